#!/bin/sh
# Both ranks of heddle-conformance over the TCP plugin on loopback; the environment sets threads and sockets.
#   conformance_of_tcpref.sh PROGRAM PLUGIN
set -u
program=$1
plugin=$2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
export NCCL_SOCKET_IFNAME=lo
rank() {
  "$program" --plugin "$plugin" --rendezvous "$folder" --rank "$1" --big-bytes 50000001 --timeout-seconds 30
}
rank 0 >"$folder/sender.log" 2>&1 &
rank 1
received=$?
wait $!
sent=$?
[ $sent -eq 0 ] && [ $received -eq 0 ] && exit 0
echo "the receiver ended with $received, the sender with $sent:"
cat "$folder/sender.log"
exit 1
