#!/usr/bin/env bash
# Debian's ibv_devinfo, ibv_rc_pingpong and perftest on the stand-in: stock_programs.sh LIBRARY-FOLDER
# Exit code 77, and why on the last line, where they aren't installed.
set -euo pipefail

library=$1
missing=()
for program in ibv_devinfo:ibverbs-utils ib_write_bw:perftest; do
  command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
done
if ((${#missing[@]} > 0)); then
  echo "skipped: ${missing[*]} isn't installed (apt-get install ${missing[*]})"
  exit 77
fi

folder=$(mktemp -d)
server=
cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT
export LD_LIBRARY_PATH=$library STANDIN_FABRIC=$folder/fabric

fail() {
  echo "not ok: $*"
  cat "$folder"/*.log
  exit 1
}

STANDIN_DEVICES=2 STANDIN_ADDRESSES=4 ibv_devinfo -v >"$folder/devinfo.log" || fail "ibv_devinfo"
for text in "hca_id:.*standin0" "hca_id:.*standin1" PORT_ACTIVE "link_layer:.*Ethernet" \
  "GID\[  4\]:.*fd5d:a11d:0:8::1, RoCE v2"; do
  grep -q "$text" "$folder/devinfo.log" || fail "ibv_devinfo doesn't print $text"
done
echo "ok ibv_devinfo"

# Prints a port without listener; another process may take it before the server does, so each pair tries three times.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null ||
    echo $((20000 + RANDOM % 10000))
}

wait_for_listener() {
  local hex
  hex=$(printf ':%04X' "$1")
  for ((i = 0; i < 100; i++)); do
    awk -v port="$hex" '$4 == "0A" && index($2, port)' /proc/net/tcp /proc/net/tcp6 | grep -q . && return 0
    kill -0 "$server" 2>/dev/null || return 1
    sleep 0.05
  done
  return 1
}

# both_ends NAME PROGRAM OPTION...: server on host 0, client on host 1
both_ends() {
  local name=$1 port
  shift
  for attempt in 1 2 3; do
    port=$(free_port)
    STANDIN_HOST=0 timeout 60 "$@" -p "$port" >"$folder/server.log" 2>&1 &
    server=$!
    if wait_for_listener "$port" &&
      STANDIN_HOST=1 timeout 60 "$@" -p "$port" 127.0.0.1 >"$folder/client.log" 2>&1 && wait "$server"; then
      server=
      echo "ok $name"
      return 0
    fi
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
  fail "$name"
}

for program in ib_write_bw ib_send_bw ib_read_bw; do
  both_ends "$program" "$program" -F -x 1 -n 200 -s 65536
  grep -q '^ 65536 ' "$folder/client.log" || fail "$program shows no result"
  both_ends "$program, 4 queue pairs" "$program" -F -x 1 -n 200 -s 4096 -q 4
done
both_ends "ib_write_bw, every size" ib_write_bw -F -x 1 -n 5 -a
for program in ib_write_lat ib_send_lat ib_read_lat; do
  both_ends "$program" "$program" -F -x 1 -n 200
done
both_ends "ib_send_bw, woken by events" ib_send_bw -F -x 1 -n 200 -s 65536 -e
both_ends "ib_send_bw, datagrams" ib_send_bw -F -x 1 -n 200 -s 2048 -c UD
both_ends "ibv_ud_pingpong" ibv_ud_pingpong -g 1 -n 50
both_ends "ibv_rc_pingpong" ibv_rc_pingpong -g 1 -n 200
both_ends "ibv_rc_pingpong, woken by events" ibv_rc_pingpong -g 1 -n 200 -e

# perftest detects a port that isn't active.
STANDIN_HOST=0 "$2" create
STANDIN_HOST=0 "$2" host 0
"$2" port 0/0 down
if STANDIN_HOST=0 timeout 20 ib_write_bw -F -x 1 >"$folder/server.log" 2>&1; then fail "a port that is down was used"; fi
grep -qi "port" "$folder/server.log" || fail "no message about the port"
echo "ok a port that is down"
