#!/usr/bin/env bash
# NCCL's own library over the plugin, then over its sockets, on this machine's GPUs: run.sh [--dry-run] [OPTION]...
#
# Each rank is a process with its own host name (NCCL_HOSTID), so that NCCL uses the network between them, and may
# share a GPU with another. Every element is checked. Exit code 77 if there is no GPU or no NCCL.
set -euo pipefail

here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
driver=${HEDDLE_NCCL_DRIVER:-$root/perf-tests/target/heddle-nccl}
plugin=${HEDDLE_PLUGIN:-$root/plugin-shim/target/plugin/libnccl-net-heddle.so}
ranks=2
dry=
output=
library=()
more=()

usage() {
  cat <<'TEXT'
usage: perf-tests/nccl/run.sh [OPTION]...

  --ranks N        processes (2); several may share a GPU
  --nccl FILE      NCCL's library (libnccl.so.2, where the loader finds it)
  --output FILE    also write the tables there
  --dry-run        only print the commands
  --min-bytes B, --max-bytes B, --iterations N, --warmup N, --timeout-seconds S   passed to heddle-nccl

HEDDLE_PLUGIN and HEDDLE_NCCL_DRIVER replace the build's files. If HEDDLE_PLANES isn't set, each rank has four planes among
the loopback addresses.
TEXT
}

while (($# > 0)); do
  case $1 in
    --help | -h)
      usage
      exit 0
      ;;
    --dry-run) dry=yes ;;
    --ranks | --nccl | --output | --min-bytes | --max-bytes | --iterations | --warmup | --timeout-seconds)
      (($# > 1)) || {
        echo "run.sh: $1 needs a value" >&2
        exit 2
      }
      case $1 in
        --ranks) ranks=$2 ;;
        --nccl) library=(--nccl "$2") ;;
        --output) output=$2 ;;
        *) more+=("$1" "$2") ;;
      esac
      shift
      ;;
    *)
      echo "run.sh: unknown option $1; see --help" >&2
      exit 2
      ;;
  esac
  shift
done
[[ $ranks =~ ^[0-9]+$ ]] && ((ranks >= 2 && ranks <= 64)) || {
  echo "run.sh: --ranks $ranks is not in 2 to 64" >&2
  exit 2
}
for file in "$driver" "$plugin"; do
  [[ -e $file || -n $dry ]] || {
    echo "run.sh: $file is missing; build it with ./heddle build" >&2
    exit 2
  }
done
if [[ -z $dry ]]; then
  "$driver" --probe "${library[@]}" || exit $?
fi

# Prints the planes of a rank on a host that it shares with the others.
planes_of() {
  local rank=$1 plane list=
  for plane in 1 2 3 4; do
    list+=${list:+,}127.$((rank + 1)).$plane.1=$plane
  done
  echo "$list"
}

# Prints the variables for rank $2 over transport $1.
environment() {
  printf '%s\n' "NCCL_HOSTID=heddle-rank-$2" NCCL_DEBUG="${NCCL_DEBUG:-WARN}" "NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo}"
  if [[ $1 == heddle ]]; then
    printf '%s\n' "NCCL_NET_PLUGIN=$plugin" NCCL_NET=Heddle "HEDDLE_PLANES=${HEDDLE_PLANES:-$(planes_of "$2")}"
  else
    printf '%s\n' NCCL_NET_PLUGIN=none NCCL_NET=Socket
  fi
}

run_over() {
  local transport=$1 rank folder status=0 ended pids=() left variables
  echo "# $ranks ranks over $transport"
  folder=$(mktemp -d)
  for ((rank = 0; rank < ranks; rank++)); do
    mapfile -t variables < <(environment "$transport" "$rank")
    local command=("$driver" --rendezvous "$folder" --rank "$rank" --ranks "$ranks" "${library[@]}" "${more[@]}")
    if [[ -n $dry ]]; then
      echo "env ${variables[*]} ${command[*]}"
    else
      env "${variables[@]}" "${command[@]}" &
      pids+=($!)
    fi
  done
  # A failed rank ends the others: they would wait for it until their time limit.
  left=${#pids[@]}
  while ((left > 0)); do
    wait -n || {
      ended=$?
      if ((status == 0)); then
        status=$ended
        mapfile -t pids < <(jobs -pr)
        ((${#pids[@]} == 0)) || kill "${pids[@]}"
      fi
    }
    left=$((left - 1))
  done
  rm -rf -- "$folder"
  return "$status"
}

both() {
  local failed=0
  run_over heddle || failed=$?
  run_over socket || failed=$?
  return "$failed"
}

if [[ -n $output && -z $dry ]]; then
  both | tee "$output"
else
  both
fi
