#!/usr/bin/env bash
# Runs a command in an emulated guest with Debian's kernel; see usage below.
set -euo pipefail

here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd -- "$here/../.." && pwd)

usage() {
  cat <<'TEXT'
usage: heddle guest [OPTION]... [--] COMMAND [ARGUMENT]...

Runs COMMAND as root in an emulated guest that has Debian's kernel with Soft RoCE (rxe), in the same folder as here.
Every path of this machine exists in it; changes are lost at its end, except in the folder of -o.

  --cables N   N cables between the devices rxeA<i> and rxeB<i>, addresses fd00:a:0:<i>::1 and fd00:b:0:<i>::1 (default: 1)
  --planes N   devices rxeA and rxeB, N planes between them, an address in each by SLAAC
  --planes NxD the same with D devices on each side, rxeA0 … and rxeB0 …, which share the planes
  --bare       no device at all
  -t SECONDS   time limit (default: 300)
  -m MIB       memory (default: 2048)
  -o FOLDER    shared read-write, as /run/out
  --tap NAME   a tap device of this network namespace as the guest's interface eth0; repeated: eth1 and so on

COMMAND may call the functions of system-tests/guest/topology.sh: bash -c 'cut_plane 1; ...'.
Exit status: COMMAND's; 124 after the time limit, 125 if the guest ended by itself, 77 if this machine can't run one.
TEXT
}

fail() {
  printf 'heddle guest: %s\n' "$*" >&2
  exit 2
}

number() {
  [[ ${2:-} =~ ^[0-9]+$ ]] && ((10#$2 >= $3 && 10#$2 <= $4)) || fail "$1 ${2:-} is not a number in $3 to $4"
}

topology=(cables 1)
limit=300
memory=2048
out=
taps=()
while (($# > 0)); do
  case $1 in
    --cables)
      number "$1" "${2:-}" 1 9
      topology=(cables "$2")
      shift
      ;;
    --planes)
      planes=${2:-}
      number "$1" "${planes%%x*}" 1 9
      topology=(planes "${planes%%x*}")
      if [[ $planes == *x* ]]; then
        number "$1 ${planes%%x*}x" "${planes#*x}" 1 4
        topology+=("${planes#*x}")
      fi
      shift
      ;;
    --bare) topology=() ;;
    -t)
      number "$1" "${2:-}" 1 86400
      limit=$2
      shift
      ;;
    -m)
      number "$1" "${2:-}" 512 1048576
      memory=$2
      shift
      ;;
    -o)
      [[ -d ${2:-} ]] || fail "-o ${2:-} is no folder"
      out=$(cd -- "$2" && pwd)
      shift
      ;;
    --tap)
      [[ -e /sys/class/net/${2:-}/tun_flags ]] || fail "--tap ${2:-} is no tap device of this network namespace"
      taps+=("$2")
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    --)
      shift
      break
      ;;
    -*) fail "unknown option $1; see heddle guest --help" ;;
    *) break ;;
  esac
  shift
done
(($# > 0)) || fail "no command; see heddle guest --help"

cache=${HEDDLE_GUEST_CACHE:-$root/.build/guest}
guest=$("$here/make.sh" "$cache")
# QEMU inherits this lock, so the guest's folder isn't removed while QEMU runs.
exec 7<"$guest/lock"
flock -s 7

control=$(mktemp -d)
finish() {
  rm -rf -- "$control"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The emulation can't cope with a compiler that changes code while another thread runs it: with C2 and G1, one of a
# hundred JVMs crashed at an illegal instruction. With C1 and the serial collector, none did.
{
  printf 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp TERM=dumb LC_ALL=C.UTF-8\n'
  printf 'export JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"\n'
  printf 'export GUEST_MODULES=%q\n' "$guest/modules"
  if [[ -n ${HEDDLE_JAVA_HOME:-} ]]; then
    printf 'export HEDDLE_JAVA_HOME=%q\n' "$HEDDLE_JAVA_HOME"
  fi
  printf 'set -e\nsource %q\n' "$here/topology.sh"
  ((${#topology[@]} == 0)) || echo "topology_${topology[*]}"
  printf 'set +e\ncd %q\nexec' "$PWD"
  printf ' %q' "$@"
  echo
} >"$control/command.sh"

# The kernel doesn't measure a clock frequency that it is given. It would consider the emulated clock unstable.
clock=$(awk '/^bogomips/ {print int($3 * 500); exit}' /proc/cpuinfo)
kernel_options="console=ttyS0 quiet loglevel=1 panic=-1 mitigations=off random.trust_cpu=on no_timer_check"
kernel_options+=" tsc_early_khz=$clock tsc=reliable"
shares=(-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
  -device virtio-9p-pci,fsdev=root,mount_tag=root
  -fsdev "local,id=guest,path=$control,security_model=none,multidevs=remap"
  -device virtio-9p-pci,fsdev=guest,mount_tag=guest)
if [[ -n $out ]]; then
  shares+=(-fsdev "local,id=out,path=$out,security_model=none,multidevs=remap"
    -device virtio-9p-pci,fsdev=out,mount_tag=out)
  kernel_options+=" guest.out"
fi
network=(-nic none)
for i in "${!taps[@]}"; do
  ((i > 0)) || network=()
  # QEMU assigns a MAC address to each network card.
  network+=(-netdev "tap,id=net$i,ifname=${taps[i]},script=no,downscript=no"
    -device "virtio-net-pci,netdev=net$i,host_mtu=$(<"/sys/class/net/${taps[i]}/mtu")")
done

# The output goes through pipes of its own. QEMU opens the files by name again, which would truncate a file to which
# output is appended.
exec 3> >(exec cat)
stdout=$!
exec 4> >(exec cat >&2)
stderr=$!
status=0
# By pdeathsig the guest ends with this script, even if the script is killed.
setpriv --pdeathsig KILL timeout -k 5 "$limit" setpriv --pdeathsig KILL \
  qemu-system-x86_64 -accel tcg,thread=multi -cpu max,-erms,-pclmulqdq -smp 2 -m "$memory" \
  -nodefaults -display none -no-reboot -kernel "$guest/kernel" -initrd "$guest/initrd" -append "$kernel_options" \
  -serial "file:$control/console" -device virtio-serial-pci \
  -chardev file,id=stdout,path=/dev/fd/3,append=on -device virtserialport,chardev=stdout,nr=1 \
  -chardev file,id=stderr,path=/dev/fd/4,append=on -device virtserialport,chardev=stderr,nr=2 \
  "${network[@]}" "${shares[@]}" </dev/null >&4 2>&4 &
qemu=$!
exec 3>&- 4>&-
wait $qemu || status=$?
wait $stdout $stderr
if [[ -s $control/status ]]; then
  exit "$(<"$control/status")"
fi
if ((status == 124 || status == 137)); then
  echo "heddle guest: the time limit of $limit s was reached" >&2
  status=124
else
  echo "heddle guest: the guest ended by itself (QEMU's exit status $status)" >&2
  status=125
fi
if [[ -s $control/console ]]; then
  echo "heddle guest: its console output:" >&2
  tail -n 60 "$control/console" >&2
fi
exit $status
