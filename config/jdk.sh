# shellcheck shell=bash
# Functions that find or install the JDK. The heddle command sources this file, and defines say, fail, install,
# may_install, root and state.

# Release of Eclipse Temurin that is downloaded if neither the machine nor apt has a JDK 25.
jdk_release=jdk-25.0.4+7
jdk_address=https://github.com/adoptium/temurin25-binaries/releases/download
declare -A jdk_file=(
  [x86_64]=OpenJDK25U-jdk_x64_linux_hotspot_25.0.4_7.tar.gz
  [aarch64]=OpenJDK25U-jdk_aarch64_linux_hotspot_25.0.4_7.tar.gz)
declare -A jdk_sha256=(
  [x86_64]=e58fcdcd637b25c03ca84cbbcefc70d11efb8f4b4cbd05decc9f661769d77f94
  [aarch64]=621f7196f0b682fb557da58bec89bd7dfe5419811fe1c0ba75c9cc8432f084c7)

# Prints the major version of the JDK in the folder $1, or nothing. Reads the JDK's release file, which is faster than a
# start of java.
jdk_version() {
  [[ -x $1/bin/javac && -x $1/bin/java && -r $1/release ]] || return 0
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

find_jdk() {
  local home version
  if [[ -n ${HEDDLE_JAVA_HOME:-} ]]; then
    version=$(jdk_version "$HEDDLE_JAVA_HOME")
    [[ -n $version ]] || fail "HEDDLE_JAVA_HOME=$HEDDLE_JAVA_HOME is not a JDK (bin/java, bin/javac and release expected)"
    ((version >= 25)) || fail "HEDDLE_JAVA_HOME=$HEDDLE_JAVA_HOME is Java $version; 25 or later is needed"
    java_home=$HEDDLE_JAVA_HOME
    return 0
  fi
  for home in "${JAVA_HOME:-}" "${JAVA25_HOME:-}" "$state"/jdk /usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/* \
    "$HOME"/.local/share/mise/installs/java/* /opt/jdk* /opt/java* /usr/local/jdk* /usr/local/openjdk*; do
    [[ -n $home ]] || continue
    version=$(jdk_version "$home")
    if [[ -n $version ]] && ((version >= 25)); then
      java_home=$home
      return 0
    fi
  done
  return 1
}

# Prints the name of a JDK 25 package that apt knows, or nothing.
jdk_package() {
  local name
  for name in openjdk-25-jdk-headless temurin-25-jdk; do
    if [[ $(apt-cache policy "$name" 2>/dev/null) == *"Candidate: "[0-9]* ]]; then
      echo "$name"
      return 0
    fi
  done
}

# Downloads the file $1 of Temurin's release to $2, by curl or wget.
download_jdk() {
  local address=$jdk_address/${jdk_release/+/%2B}/$1
  if command -v curl >/dev/null; then
    curl -fsSL --connect-timeout 15 --speed-limit 1000 --speed-time 30 -o "$2" "$address"
  elif command -v wget >/dev/null; then
    wget -q --tries=1 --timeout=30 -O "$2" "$address"
  else
    say "neither curl nor wget is installed"
    return 1
  fi
}

# Downloads Temurin's JDK to .build/jdk. If that fails, prints the reason and returns false.
fetch_jdk() {
  local machine archive=$state/jdk.tar.gz sum
  machine=$(uname -m)
  [[ -n ${jdk_file[$machine]:-} ]] || return 1
  if [[ -n $offline ]]; then
    say "not downloading Temurin ${jdk_release#jdk-}: --offline was given"
    return 1
  fi
  mkdir -p "$state"
  say "no JDK 25 found; downloading Temurin ${jdk_release#jdk-} into $state/jdk (from $jdk_address; --offline prevents it)"
  if ! download_jdk "${jdk_file[$machine]}" "$archive"; then
    say "the download failed"
    rm -f -- "$archive"
    return 1
  fi
  sum=$(sha256sum "$archive")
  if [[ ${sum%% *} != "${jdk_sha256[$machine]}" ]]; then
    say "the downloaded file is not Temurin's: its SHA-256 is ${sum%% *}, not ${jdk_sha256[$machine]}; it was deleted"
    rm -f -- "$archive"
    return 1
  fi
  rm -rf -- "$state/jdk.new" "$state/jdk"
  mkdir "$state/jdk.new"
  if ! tar -xzf "$archive" -C "$state/jdk.new" --strip-components=1; then
    say "$archive can't be unpacked"
    rm -rf -- "$state/jdk.new" "$archive"
    return 1
  fi
  rm -f -- "$archive"
  mv "$state/jdk.new" "$state/jdk"
}

# Sets java_home to a JDK, which is installed if necessary. Ends the command if there is none.
require_jdk() {
  find_jdk && return 0
  if may_install; then
    local package
    package=$(jdk_package)
    if [[ -z $package && -z $offline ]]; then
      apt-get update -q >/dev/null 2>&1 || true
      package=$(jdk_package)
    fi
    if [[ -n $package ]]; then
      install "$package"
      find_jdk && return 0
    fi
  fi
  fetch_jdk && find_jdk && return 0
  fail "no JDK 25 or later found: install Temurin's package temurin-25-jdk (https://adoptium.net), or set HEDDLE_JAVA_HOME"
}
