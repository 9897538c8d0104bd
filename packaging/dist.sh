#!/usr/bin/env bash
# Makes Heddle's two packages from the build's output: dist.sh [--arch aarch64 [--runtime FOLDER]] JDK OUTPUT
#
#   OUTPUT/heddle-<version>-linux-<machine>.tar.zst   one folder that works wherever it is unpacked
#   OUTPUT/heddle_<version>_<machine>.deb             the same under /usr/lib/heddle
#
# Without --arch the packages are for this machine's architecture. With it the C code is cross-compiled for arm64, and
# --runtime names a Java for arm64: a JDK, or a runtime that jlink made. Without --runtime the arm64 packages contain no
# Java, and use the host's.
#
# The packages are reproducible: the same commit, JDK, C compiler and packing tools give the same bytes. See
# docs/install.md.
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022

here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(dirname -- "$here")

fail() {
  printf 'heddle: %s\n' "$*" >&2
  exit 1
}

usage="usage: dist.sh [--arch aarch64 [--runtime FOLDER]] JDK OUTPUT"
machine=$(uname -m)
arch=$machine
given=
while (($# > 2)); do
  case $1 in
    --arch) arch=$2 ;;
    --runtime) given=$2 ;;
    *) fail "$usage" ;;
  esac
  shift 2
done
(($# == 2)) || fail "$usage"
case $arch in
  x86_64) debian_arch=amd64 ;;
  aarch64) debian_arch=arm64 ;;
  *) fail "packages are made for x86_64 and aarch64, not for $arch" ;;
esac
cross=
if [[ $arch != "$machine" ]]; then
  [[ $arch == aarch64 ]] || fail "packages for $arch can be made on $arch only; this is $machine"
  cross=aarch64-linux-gnu-
elif [[ -n $given ]]; then
  fail "--runtime is for another architecture only; packages for this one get a runtime of $1"
fi
jdk=$1
mkdir -p -- "$2"
output=$(cd -- "$2" && pwd)
[[ -x $jdk/bin/jlink ]] || fail "$jdk has no bin/jlink; the packages need a full JDK"
for tool in zstd dpkg-deb "${cross}strip" "${cross}objdump" gzip; do
  command -v "$tool" >/dev/null || fail "$tool is missing: on Debian or Ubuntu, apt-get install zstd dpkg binutils gzip"
done
if [[ -n $cross ]]; then
  for tool in "${cross}gcc" "${cross}readelf" cmake; do
    command -v "$tool" >/dev/null ||
      fail "$tool is missing: on Debian or Ubuntu, apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross cmake"
  done
fi

# Prints the value of $1 in the given runtime's release file.
given_release_value() { sed -n "s/^$1=\"\(.*\)\"\$/\1/p" "$given/release"; }

if [[ -n $given ]]; then
  for file in release bin/java lib/server/libjvm.so conf; do
    [[ -r $given/$file ]] || fail "$given is no Java runtime: it has no $file"
  done
  kind=$("${cross}readelf" -h "$given/lib/server/libjvm.so" 2>/dev/null | sed -n 's/^ *Machine: *//p')
  [[ $kind == AArch64 ]] || fail "$given is a Java for ${kind:-an unknown architecture}, not for $arch"
  kind=$(given_release_value JAVA_VERSION)
  ((${kind%%[!0-9]*} >= 25)) 2>/dev/null || fail "$given is Java ${kind:-of no version}; 25 or later is needed"
fi

version=$(sed -n 's:.*<revision>\(.*\)</revision>.*:\1:p' "$root/pom.xml")
# Time of the sources' last change, which every file in the packages gets.
epoch=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="*" -C "$root" log -1 --format=%ct 2>/dev/null || echo 1767225600)}
export SOURCE_DATE_EPOCH=$epoch
name=heddle-$version-linux-$arch
stage=$(mktemp -d "$output/.stage-XXXXXX")
trap 'rm -rf -- "$stage"' EXIT
bundle=$stage/$name
lib=$bundle/lib
mkdir -p "$bundle/bin" "$lib" "$bundle/share/man/man1" "$bundle/share/doc" "$bundle/share/systemd" \
  "$bundle/share/sysusers.d" "$bundle/share/bash-completion/completions"

# --- built files -----------------------------------------------------------------------------

shim=$root/plugin-shim/target/plugin
drivers=$root/perf-tests/target

# cross_build SOURCE FOLDER TARGET...: builds the C code of the module SOURCE for arm64, in FOLDER.
cross_build() {
  "$jdk/bin/java" "$root/native/RunTool.java" cmake -S "$1" -B "$2" \
    "-DCMAKE_TOOLCHAIN_FILE=$root/config/$arch-linux-gnu.cmake" "-DJDK_HOME=$jdk" -DHEDDLE_SANITIZE=OFF -DSTANDIN_SANITIZE=OFF "-DHEDDLE_PLUGIN_DIR=$2" &&
    "$jdk/bin/java" "$root/native/RunTool.java" cmake --build "$2" --parallel 2 --target "${@:3}" ||
    fail "can't compile $1 for $arch"
}

if [[ -n $cross ]]; then
  shim=$root/native/target/$arch
  drivers=$root/perf-tests/target/$arch
  cross_build "$root/native" "$shim" shim
  cross_build "$root/perf-tests" "$drivers" heddle-allreduce
fi
cp "$shim/libnccl-net-heddle.so" "$root/plugin-shim/target/plugin/heddle-plugin.jar" "$lib"
cp "$root/cli/target/heddle-cli.jar" "$lib"
cp "$drivers/heddle-allreduce" "$lib"
"${cross}strip" --strip-unneeded "$lib"/*.so "$lib/heddle-allreduce"
cp "$here/start.sh" "$lib"
install -m 755 "$here/heddle" "$bundle/bin/heddle"

# --- the Java runtime ----------------------------------------------------------------------------------

# Prints the Java modules that the jars need. Those of unused parts are left out: picocli and Jackson have code for
# java.sql dates and beans.
modules() {
  "$jdk/bin/jdeps" --no-recursive --ignore-missing-deps --multi-release 25 --print-module-deps "$lib"/heddle-*.jar |
    tr , '\n' | grep -vx 'java.desktop\|java.sql' | paste -sd ,
}

# Copies the runtime of --runtime without its developer tools.
copy_given_runtime() {
  local wanted has missing=() each
  wanted=$(modules) && [[ -n $wanted ]] || fail "jdeps found no modules that the jars need"
  has=" $(given_release_value MODULES) "
  for each in ${wanted//,/ }; do
    [[ $has == *" $each "* ]] || missing+=("$each")
  done
  ((${#missing[@]} == 0)) || fail "$given lacks the modules ${missing[*]}"
  mkdir -p "$lib/runtime/bin"
  cp -a -L -- "$given"/{lib,conf,release} "$lib/runtime"
  [[ ! -e $given/legal ]] || cp -a -- "$given/legal" "$lib/runtime"
  cp -L -- "$given/bin/java" "$lib/runtime/bin"
  rm -f -- "$lib"/runtime/lib/{src.zip,ct.sym,jexec}
  [[ ! -e $given/NOTICE ]] || cp "$given/NOTICE" "$lib/runtime/NOTICE"
}

if [[ -z $cross ]]; then
  "$jdk/bin/jlink" --add-modules "$(modules)" --strip-debug --no-header-files --no-man-pages --output "$lib/runtime" >/dev/null
  [[ ! -e $jdk/NOTICE ]] || cp "$jdk/NOTICE" "$lib/runtime/NOTICE"
elif [[ -n $given ]]; then
  copy_given_runtime
else
  : >"$lib/takes-java-of-host"
fi

# --- class archives ------------------------------------------------------------------------------------

# The class archive is made from a class list, since archives that a start records differ from run to run in the
# resolved constants. Java checks the jar's time against the archive, so the time is set. It stores the jars' paths
# without their common prefix, here the whole folder, so the archive works in any folder.
find "$lib" -name '*.jar' -exec touch -d "@$epoch" {} +
archive() (
  cd -- "$lib"
  runtime/bin/java -Xshare:dump -XX:+UseSerialGC -Xmx128m --enable-native-access=ALL-UNNAMED "$@" >"$stage/dump.log" 2>&1 || {
    cat "$stage/dump.log" >&2
    fail "no class archive: java -Xshare:dump $* failed"
  }
)
# A class archive can only be created on the architecture for which it is.
if [[ -z $cross ]]; then
  archive
  archive -XX:SharedClassListFile="$here/plugin.classes" -XX:SharedArchiveFile=heddle.jsa -cp /proc/self/cwd/heddle-plugin.jar
  # Only developers and the creation of the archive need these files.
  rm -f -- "$lib/runtime/bin/keytool" "$lib"/runtime/lib/{classlist,jexec,jrt-fs.jar}
fi

# --- texts ---------------------------------------------------------------------------------------------

# Adds the licences of other projects. Each of their Java packages in the jars must have a line in third-party.txt,
# which names the licence.
licences() {
  local folder=$bundle/share/doc/licences prefix component licence text entry
  mkdir -p "$folder"
  cp "$root/LICENSE" "$folder/Apache-2.0.txt"
  cp "$here"/licences/*.txt "$folder"
  : >"$folder/README"
  printf 'Heddle: Apache-2.0, see Apache-2.0.txt\n' >>"$folder/README"
  [[ ! -d $lib/runtime ]] ||
    printf 'Java runtime: GPL-2.0 with Classpath Exception, see lib/runtime/legal and its NOTICE\n' >>"$folder/README"
  local packages
  packages=$("$jdk/bin/jar" tf "$lib/heddle-plugin.jar"; "$jdk/bin/jar" tf "$lib/heddle-cli.jar")
  packages=$(sed -n 's:^META-INF/versions/[0-9]*/::; s:/[^/]*\.class$::p' <<<"$packages" | sort -u)
  while IFS='|' read -r prefix component licence text; do
    [[ -n $prefix && $prefix != \#* ]] || continue
    grep -q "^$prefix\(/\|\$\)" <<<"$packages" || continue
    [[ -e $folder/$text ]] || fail "third-party.txt names $text for $component, which isn't in packaging/licences"
    printf '%s: %s, see %s\n' "$component" "$licence" "$text" >>"$folder/README"
  done <"$here/third-party.txt"
  # Prints the first Java package without a line, neither for itself nor for an enclosing package.
  entry=$(awk -F '|' '
    NR == FNR { if ($0 !~ /^#/ && $1 != "") known[$1]; next }
    { for (above = $0; above != "io/heddle" && !(above in known); sub("/[^/]*$", "", above)) if (above !~ "/") { print; exit } }
  ' "$here/third-party.txt" - <<<"$packages")
  [[ -z $entry ]] || fail "the jars contain the package $entry, whose licence isn't in packaging/third-party.txt"
}

# Copies the pages $@ and all files to which they link. The folders are those of the sources, so that the links work.
pages() {
  local -a left=("$@")
  local page link file
  while ((${#left[@]} > 0)); do
    page=${left[0]}
    left=("${left[@]:1}")
    [[ ! -e $bundle/share/doc/$page ]] || continue
    install -D -m 644 "$root/$page" "$bundle/share/doc/$page"
    [[ $page == *.md ]] || continue
    while read -r link; do
      file=$(realpath -m -- "$root/$(dirname -- "$page")/$link")
      [[ -f $file && $file == "$root"/* ]] || fail "$page links to $link, which is no file of the sources"
      left+=("${file#"$root"/}")
    done < <(grep -o '](<\?[^)>]*' "$root/$page" | sed 's/^](<\?//; s/[ #].*//; /^$/d; /^[a-z]*:/d')
  done
}

licences
pages README.md CHANGELOG.md SECURITY.md $(cd -- "$root" && echo docs/*.md docs/decisions/*.md)
# Java that runs on this machine: the packages' own, or the JDK if that one is for another architecture.
java=$lib/runtime/bin/java
[[ -z $cross ]] || java=$jdk/bin/java
"$java" -XX:TieredStopAtLevel=1 -jar "$lib/heddle-cli.jar" write-man-pages "$bundle/share/man/man1"
"$java" -XX:TieredStopAtLevel=1 -jar "$lib/heddle-cli.jar" write-completion \
  "$bundle/share/bash-completion/completions/heddle"
# Writes the systemd units, which run the command $1, to the folder $2.
services() {
  local unit
  for unit in "$here"/*.service; do
    sed "s:@HEDDLE@:$1:g" "$unit" >"$2/$(basename -- "$unit")"
  done
}
services /opt/heddle/bin/heddle "$bundle/share/systemd"
install -m 644 "$here/heddle.sysusers" "$bundle/share/sysusers.d/heddle.conf"

# --- tar -----------------------------------------------------------------------------------------------

set_modes_and_times() {
  find "$1" -type d -exec chmod 755 {} +
  find "$1" -type f ! -perm -100 -exec chmod 644 {} +
  find "$1" -type f -perm -100 -exec chmod 755 {} +
  find "$1" -exec touch -h -d "@$epoch" {} +
}

set_modes_and_times "$bundle"
tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$stage" -cf - "$name" |
  zstd -q -T1 -9 -f -o "$output/$name.tar.zst"

# --- Debian package --------------------------------------------------------------------------------------

needed_libc() {
  find "$1" -type f \( -name '*.so' -o -perm -100 \) -exec "${cross}objdump" -T {} + 2>/dev/null |
    grep -o 'GLIBC_2\.[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1
}

debian=$stage/debian
usr=$debian/usr
mkdir -p "$debian/DEBIAN" "$usr/bin" "$usr/lib/systemd/system" "$usr/lib/sysusers.d" "$usr/lib/$arch-linux-gnu" \
  "$usr/share/doc/heddle" "$usr/share/man/man1"
cp -a "$lib" "$usr/lib/heddle"
cp -a "$bundle/share/doc/." "$usr/share/doc/heddle"
cp -a "$bundle/share/bash-completion" "$usr/share"
install -m 755 "$here/heddle" "$usr/lib/heddle/heddle"
ln -s ../lib/heddle/heddle "$usr/bin/heddle"
# With NCCL_NET_PLUGIN=heddle, NCCL finds the plugin by this link, and the plugin finds its own folder behind the link.
ln -s ../heddle/libnccl-net-heddle.so "$usr/lib/$arch-linux-gnu/libnccl-net-heddle.so"
services /usr/bin/heddle "$usr/lib/systemd/system"
install -m 644 "$here/heddle.sysusers" "$usr/lib/sysusers.d/heddle.conf"
install -m 755 "$here/postinst" "$debian/DEBIAN/postinst"
for page in "$bundle"/share/man/man1/*; do
  gzip -9nc "$page" >"$usr/share/man/man1/$(basename -- "$page").gz"
done
cp "$bundle/share/doc/licences/README" "$usr/share/doc/heddle/copyright"
recommended="iproute2, systemd | systemd-standalone-sysusers"
java_description="its own Java runtime"
if [[ ! -d $lib/runtime ]]; then
  # Java is recommended, not required, since one that no package installed is as good.
  recommended+=", temurin-25-jre | temurin-25-jdk | openjdk-25-jre-headless"
  java_description="no Java: 25 or later is needed"
fi
cat >"$debian/DEBIAN/control" <<CONTROL
Package: heddle
Version: $version
Architecture: $debian_arch
Maintainer: The Heddle authors <heddle@localhost>
Section: net
Priority: optional
Installed-Size: $(du -sk --apparent-size "$usr" | cut -f 1)
Depends: libc6 (>= $(needed_libc "$usr/lib/heddle"))
Recommends: $recommended
Suggests: libibverbs1, bird2, libbpf1
Description: NCCL network plugin for Ethernet fabrics with many planes
 Sprays every message of a collective over queue pairs that are pinned to the
 planes of the fabric, by weights that it learns by BGP. Brings a user-space
 RoCEv2 device, the command heddle, and $java_description.
CONTROL
set_modes_and_times "$debian"
(cd -- "$debian" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$debian/DEBIAN/md5sums"
touch -d "@$epoch" "$debian/DEBIAN/md5sums" "$debian/DEBIAN"
DPKG_DEB_THREADS_MAX=1 dpkg-deb -Zzstd -z9 --root-owner-group --build "$debian" \
  "$output/heddle_${version}_$debian_arch.deb" >/dev/null

for file in "$output/$name.tar.zst" "$output/heddle_${version}_$debian_arch.deb"; do
  printf '%s\t%s bytes\tsha256 %s\n' "$file" "$(stat -c %s "$file")" "$(sha256sum "$file" | cut -d ' ' -f 1)"
done
