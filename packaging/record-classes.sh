#!/usr/bin/env bash
# Renews plugin.classes, the list of classes in the packages' class archive: record-classes.sh JDK, after a build. The
# list has only class names, sorted: Java ignores the order, and other recorded values (IDs, resolved constants) differ
# from run to run.
set -euo pipefail
export LC_ALL=C

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
(($# == 1)) || {
  echo "usage: record-classes.sh JDK" >&2
  exit 2
}
tries=5
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cp "$root"/plugin-shim/target/plugin/{libnccl-net-heddle.so,heddle-plugin.jar} "$folder"

# Classes that only one step of the warm-up loads. They must be in the list, but on a busy machine the recording may end
# before the later steps.
needed=(
  'io/heddle/transport/data/SendComm$'
  'io/heddle/transport/data/RecvComm$'
  'io/heddle/roce/transport/responder/Responder$'
  '@lambda-proxy io/heddle/transport/failover/Failover accept .*/SubFlow markBroken '
  '@lambda-proxy io/heddle/transport/failover/Failover accept .*/SubFlow retire '
  '@lambda-proxy io/heddle/transport/failover/Failover run .* noPlaneLeft '
)

# Prints the needed classes that the list $1 lacks.
classes_missing_in() {
  local each
  for each in "${needed[@]}"; do
    grep -q "^$each" "$1" || printf '%s\n' "$each"
  done
}

for ((try = 1; try <= tries; try++)); do
  HEDDLE_JAVA_HOME=$1 HEDDLE_PROVIDER=soft HEDDLE_PLANES=127.0.0.1=one,127.0.0.2=two \
    "$root/native/target/build/record_archive" --classes "$folder/recorded" "$folder"
  sed -n '/^#\|^@cp /d; s/ id: .*//; p' "$folder/recorded" | sort -u >"$folder/plugin.classes"
  missing_classes=$(classes_missing_in "$folder/plugin.classes")
  if [[ -z $missing_classes ]]; then
    cp "$folder/plugin.classes" "$root/packaging/plugin.classes"
    wc -l "$root/packaging/plugin.classes"
    exit 0
  fi
  printf 'record-classes.sh: try %d of %d lacks:\n%s\n' "$try" "$tries" "$missing_classes" >&2
done
echo "record-classes.sh: plugin.classes is unchanged: the warm-up didn't finish. Run this on an idle machine; if those classes" \
  "were renamed, correct their names in this script" >&2
exit 1
