#!/usr/bin/env bash
# make.sh CACHE: creates the emulated guest's kernel, modules and initial file system in the folder CACHE from
# Debian's packages alone: the kernel is downloaded and unpacked, nothing is installed. Prints the guest's folder; an
# existing one is reused. Exits with 77, after one line with the reason, if this machine can't run a guest.
set -euo pipefail

here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
cache=$(readlink -m -- "${1:?usage: make.sh CACHE}")

# Modules for rxe, its topologies and the guest's ports; all others in the package are omitted.
modules=(virtio_pci virtio_net virtio_console 9p 9pnet_virtio overlay ib_uverbs rdma_ucm rdma_rxe crc32_generic
  veth bridge dummy tun vrf sch_netem sch_tbf sch_ingress cls_matchall act_mirred act_gact)
# Modules that the initial file system itself loads, before it has the rest.
early=(virtio_pci virtio_console 9p 9pnet_virtio overlay)

unavailable() {
  printf 'no guest here: %s\n' "$*" >&2
  exit 77
}

require_tools() {
  [[ $(uname -m) == x86_64 ]] || unavailable "it is made for x86_64, this is $(uname -m)"
  local missing=() tool
  for tool in qemu-system-x86_64 busybox cpio modprobe depmod xz python3 dpkg apt-get apt-cache flock setpriv; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || missing+=("$tool")
  done
  ((${#missing[@]} == 0)) || unavailable "missing: ${missing[*]} (packages: qemu-system-x86 busybox-static cpio kmod xz-utils)"
  # A dynamic busybox would need libraries before the host's file system is mounted.
  if file_is_dynamic "$(command -v busybox)"; then
    unavailable "$(command -v busybox) is linked dynamically; install busybox-static"
  fi
}

file_is_dynamic() { grep -q -a -m 1 '/ld-linux' "$1"; }

# Prints the kernel package behind the metapackage for this architecture.
kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

download_kernel() {
  local package
  package=$(kernel_package)
  if [[ -z $package ]] && ((EUID == 0)); then
    apt-get update -q >/dev/null 2>&1 || true
    package=$(kernel_package)
  fi
  [[ -n $package ]] || unavailable "apt knows no linux-image-amd64 (Debian's kernel; has apt-get update been run?)"
  if ! apt-get -q download "$package" >apt.log 2>&1; then
    # Package lists older than the archive name a version that no longer exists.
    ((EUID != 0)) || apt-get update -q >>apt.log 2>&1 || true
    apt-get -q download "$package" >>apt.log 2>&1 ||
      unavailable "can't download $package: $(grep -m 1 '^E:' apt.log || tail -n 1 apt.log)"
  fi
  dpkg -x "$package"_*.deb unpacked
  rm -f -- "$package"_*.deb
  # Newer releases have their modules under /usr.
  [[ -d unpacked/lib/modules ]] || ln -s usr/lib unpacked/lib
}

# Prints the files of the modules $2… in the tree $1 and of their dependencies, in loading order. Built-in ones have
# none.
files_of() {
  local base=$1 module
  shift
  for module in "$@"; do
    modprobe -d "$base" -S "$release" --show-depends "$module" || unavailable "$release has no module $module"
  done | sed -nE 's/^insmod (.*\.ko(\.[a-z]+)?)( .*)?$/\1/p' | awk '!seen[$0]++'
}

make_kernel() {
  download_kernel
  release=$(ls unpacked/lib/modules)
  depmod -b "$PWD/unpacked" "$release"
  python3 "$here/uncompressed_kernel.py" "unpacked/boot/vmlinuz-$release" kernel
  local from=$PWD/unpacked to=$PWD/modules file
  mkdir -p "$to/lib/modules/$release"
  cp unpacked/lib/modules/"$release"/modules.{builtin*,order} "$to/lib/modules/$release/"
  while read -r file; do
    install -D -m 644 "$file" "$to/${file#"$from"/}"
  done < <(files_of "$from" "${modules[@]}")
  depmod -b "$to" "$release"
  rm -rf unpacked
  echo "$release" >release
}

make_first_file_system() {
  release=$(<release)
  mkdir -p first/{bin,dev,proc,sys,modules}
  cp "$(command -v busybox)" first/bin/busybox
  install -m 755 "$here/init" first/init
  local file name
  while read -r file; do
    name=$(basename "$file" .xz)
    case $file in
      *.xz) xz -dc "$file" >"first/modules/$name" ;;
      *) cp "$file" "first/modules/$name" ;;
    esac
    echo "$name" >>first/modules/order
  done < <(files_of "$PWD/modules" "${early[@]}")
  (cd first && find . | cpio --quiet -o -H newc -R 0:0) | gzip -1 >initrd
  rm -rf first
}

# A running guest holds the lock of its folder.
remove_older() {
  local folder
  for folder in "$cache"/guest-*; do
    if [[ $folder != "$guest" ]] && flock -n "$folder/lock" true; then
      rm -rf -- "$folder"
    fi
  done
}

PATH=$PATH:/usr/sbin:/sbin
# A change of these scripts makes a new guest, beside running ones; its kernel, the expensive part, is shared.
kernel_key=$(cat "$here/uncompressed_kernel.py" <(echo "${modules[@]}") | sha256sum | cut -c -12)
first_key=$(cat "$here/make.sh" "$here/init" | sha256sum | cut -c -12)
guest=$cache/guest-$kernel_key-$first_key
if [[ ! -d $guest ]]; then
  require_tools
  mkdir -p "$cache"
  exec 8>"$cache/lock"
  # A second process waits here and finds it made.
  flock 8
fi
if [[ ! -d $guest ]]; then
  new=$cache/new
  rm -rf -- "$new"
  mkdir "$new"
  cd "$new"
  older=("$cache"/guest-"$kernel_key"-*)
  if [[ -d ${older[0]} ]]; then
    cp -r "${older[0]}"/{kernel,modules,release} .
  else
    make_kernel
  fi
  make_first_file_system
  touch lock
  mv "$new" "$guest"
  remove_older
fi
echo "$guest"
