#!/usr/bin/env bash
# Renews plugin.classes, the list of classes that the packages' class archive holds: record-classes.sh JDK, after a build.
# Order doesn't matter to Java; what is recorded beside the names (ids, resolved constants) differs from run to run.
set -euo pipefail
export LC_ALL=C

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
(($# == 1)) || {
  echo "usage: record-classes.sh JDK" >&2
  exit 2
}
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cp "$root"/plugin-shim/target/plugin/{libnccl-net-heddle.so,heddle-plugin.jar} "$folder"
HEDDLE_JAVA_HOME=$1 HEDDLE_PROVIDER=soft HEDDLE_PLANES=127.0.0.1=one,127.0.0.2=two \
  "$root/native/target/build/record_archive" --classes "$folder/classes" "$folder"
sed -n '/^#\|^@cp /d; s/ id: .*//; p' "$folder/classes" | sort -u >"$root/packaging/plugin.classes"
wc -l "$root/packaging/plugin.classes"
