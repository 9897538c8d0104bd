#!/bin/sh
# compile.sh SOURCE OBJECT: a BPF program by whatever clang there is. Without one there is no object: the build goes on,
# and whoever would load the program says that this build has none.
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
# The kernel's headers of this machine, whose folder of the architecture clang doesn't know for a BPF target.
# -g writes the BTF by which libbpf knows the maps.
"$clang" -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -I "$here/src/main/c" \
  -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$source" -o "$object.new"
mv -- "$object.new" "$object"
