#!/bin/sh
# compile.sh SOURCE OBJECT: compiles a BPF program with the host's clang. Without clang there is no object, and the
# build continues; a command that needs the program then reports that this build has none.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
source=$1 object=$2 clang=
for name in clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang-13; do
  if command -v "$name" >/dev/null 2>&1; then
    clang=$name
    break
  fi
done
if [ -z "$clang" ]; then
  rm -f -- "$object"
  echo "no clang: $(basename "$object") isn't made (on Debian: apt-get install clang)" >&2
  exit 0
fi
if [ -e "$object" ] && [ -z "$(find "$source" "$here" -name '*.[ch]' -newer "$object")" ] && [ ! "$0" -nt "$object" ]; then
  exit 0
fi
mkdir -p "$(dirname "$object")"
# The kernel's headers of this machine; clang doesn't know their per-architecture folder for a BPF target. -g writes
# the BTF that describes the maps to libbpf.
"$clang" -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -I "$here/src/main/c" \
  -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$source" -o "$object.new"
mv -- "$object.new" "$object"
