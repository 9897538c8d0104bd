#!/usr/bin/env bash
# record.sh [FOLDER [ROUNDS]]: compares Heddle's perf commands with stock perftest, and the plugin's all-reduce over
# several planes with that over one, on rxe in the guest. Records the results in FOLDER (perf-tests/results). A round
# takes about twelve minutes.
set -euo pipefail

here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
folder=$(cd -- "${1:-$root/perf-tests/results}" && pwd)
rounds=${2:-5}
today=$(date +%F)

measure() {
  local topology=$1 planes=$2 kind=$3
  shift 3
  "$root/heddle" guest "--$topology" "$planes" -t $((300 + rounds * 900)) -o "$folder" -- \
    python3 "$here/compare.py" "$kind" "/run/out/rxe-$kind-$today" "$rounds" "$@"
}

measure cables 1 perftest "$root/tools/target/heddle-tools.jar"
measure planes 4 allreduce "$root/perf-tests/target/heddle-allreduce" "$root/plugin-shim/target/plugin/libnccl-net-heddle.so"
