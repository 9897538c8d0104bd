# Functions for the guest's command, which sources this file first.
#
# rxe has its sockets in the first network namespace only (Linux 6.1), so both ends of every test are there, on separate
# devices. The kernel would deliver a packet to the other end's address locally, by the loopback interface, where rxe
# drops it. Rules by output interface prevent that, since rxe looks up routes with its own interface.

export GUEST_MTU=4200
export GUEST_DEVICES=/sys/class/infiniband

load_modules() { modprobe -q -d "$GUEST_MODULES" -a "$@"; }

# Set-up that all topologies share. The loopback interface is up even without a topology.
ip link set lo up
if [[ -e /sys/bus/virtio/drivers/virtio_console ]] && compgen -G '/sys/bus/pci/devices/*/class' >/dev/null; then
  # QEMU's network card, if one was requested.
  grep -q -l 0x020000 /sys/bus/pci/devices/*/class && load_modules virtio_net
fi

load_rdma() {
  load_modules ib_uverbs rdma_ucm veth crc32_generic rdma_rxe sch_netem
  prefer_softirqs
}

# Raises the priority of the ksoftirqd threads. rxe works in soft interrupts, and these threads run them in a burst. If
# programs poll on both processors, the threads would wait for the next tick, so each packet could take 4 ms instead of
# 20 us.
prefer_softirqs() {
  local name pid
  for name in /proc/[0-9]*/comm; do
    if [[ $(<"$name") == ksoftirqd/* ]]; then
      pid=${name#/proc/}
      chrt -f -p 50 "${pid%/comm}"
    fi
  done 2>/dev/null
}

# Prints the other host's side, A or B.
other() { [[ $1 == A ]] && echo B || echo A; }

# own_route_table INTERFACE TABLE ADDRESSES: makes all traffic that leaves by INTERFACE follow the routing table TABLE,
# except that to the interface's own ADDRESSES, which stays local.
own_route_table() {
  local interface=$1 table=$2 addresses=$3
  echo "rule add pref 5 oif $interface to $addresses lookup local"
  echo "rule add pref 10 oif $interface lookup $table"
}

local_rule_last() {
  echo "rule add pref 1000 lookup local"
  echo "rule del pref 0"
}

set_ipv6() { echo "$3" >"/proc/sys/net/ipv6/conf/$1/$2"; }

# Receives all packets of these interfaces on one processor. Two would reorder the packets of a flow, to which rxe
# replies with NAKs. Under emulation one is also 40 % faster.
receive_on_one_processor() {
  local interface
  for interface in "$@"; do
    echo 1 >"/sys/class/net/$interface/queues/rx-0/rps_cpus"
  done
}

# --- cables ----------------------------------------------------------------------------------------

# topology_cables N: N cables hA<i> to hB<i>, an rxe device at each end: rxeA<i> with fd00:a:0:<i>::1, rxeB<i> with
# fd00:b:0:<i>::1.
topology_cables() {
  export GUEST_TOPOLOGY=cables GUEST_PLANES=$1
  load_rdma
  local i side own peer table
  {
    for ((i = 0; i < GUEST_PLANES; i++)); do
      echo "link add hA$i address 02:00:00:0a:0$i:01 mtu $GUEST_MTU type veth peer name hB$i address 02:00:00:0b:0$i:01 mtu $GUEST_MTU"
    done
  } | ip -batch -
  {
    for ((i = 0; i < GUEST_PLANES; i++)); do
      own_route_table "hA$i" "10$i" "fd00:a:0:$i::/64"
      own_route_table "hB$i" "11$i" "fd00:b:0:$i::/64"
    done
    local_rule_last
  } | ip -6 -batch -
  for ((i = 0; i < GUEST_PLANES; i++)); do
    for side in A B; do
      set_ipv6 "h$side$i" accept_dad 0
    done
  done
  {
    for ((i = 0; i < GUEST_PLANES; i++)); do
      for side in A B; do
        own=${side,,} peer=$(other "$side") table=10$i
        [[ $side == A ]] || table=11$i
        echo "link set h$side$i up"
        echo "addr add fd00:$own:0:$i::1/64 dev h$side$i nodad"
        echo "route add fd00:${peer,,}:0:$i::/64 dev h$side$i table $table"
        echo "route add multicast ff00::/8 dev h$side$i table $table"
      done
    done
  } | ip -6 -batch -
  for ((i = 0; i < GUEST_PLANES; i++)); do
    for side in A B; do
      receive_on_one_processor "h$side$i"
      rdma link add "rxe$side$i" type rxe netdev "h$side$i"
    done
  done
}

# --- planes ----------------------------------------------------------------------------------------

# topology_planes N [DEVICES]: the device rxeA on interface hA behind the switch swA, rxeB on hB behind swB, and N links
# between the switches, each a plane. The switches advertise a prefix per plane, fd00:a:0:<i>::/64 and fd00:b:0:<i>::/64, and
# route it over that plane's link only; the hosts make their addresses from them by SLAAC.
#
#   hA (rxeA) ── nic [swA] pl0 … plN-1 ══ pl0 … plN-1 [swB] nic ── hB (rxeB)
#
# With more than one device all names of devices, interfaces and ports end in the device's number, which is the third word
# of its prefixes: hA1 has fd00:a:1:<i>::/64. They share the planes.
topology_planes() {
  export GUEST_TOPOLOGY=planes GUEST_PLANES=$1 GUEST_DEVICE_COUNT=${2:-1}
  load_rdma
  mkdir -p /run/netns /run/radvd
  planes_links
  planes_rules
  local side d
  for side in A B; do
    planes_switch "$side"
  done
  for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
    for side in A B; do
      device_routes "$side" "$d"
      rdma link add "rxe$side$(of_device "$d")" type rxe netdev "h$side$(of_device "$d")"
      receive_on_one_processor "h$side$(of_device "$d")"
    done
  done
  for side in A B; do
    ip netns exec "sw$side" bash -c 'for cpus in /sys/class/net/*/queues/rx-0/rps_cpus; do echo 1 >"$cpus"; done'
    ip netns exec "sw$side" radvd -C "/run/radvd/$side.conf" -p "/run/radvd/$side.pid" -m logfile \
      -l "/run/radvd/$side.log" -u root
  done
  for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
    for side in A B; do
      wait_for_gids "rxe$side$(of_device "$d")"
    done
  done
}

# Prints the suffix of the names of device $1.
of_device() { ((GUEST_DEVICE_COUNT == 1)) || echo "$1"; }

planes_links() {
  local i side own d n
  for side in A B; do
    ip netns add "sw$side"
    ip netns exec "sw$side" bash -c 'cd /proc/sys/net/ipv6/conf; for i in all default; do echo 1 >$i/forwarding; echo 0 >$i/accept_dad; done'
  done
  {
    for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
      n=$(of_device "$d")
      for side in A B; do
        own=${side,,}
        # With fixed MAC addresses, the addresses by SLAAC are predictable.
        echo "link add h$side$n address 02:00:00:0$d:0$own:01 mtu $GUEST_MTU type veth peer name nic$n netns sw$side address 02:00:00:0$d:0$own:fe mtu $GUEST_MTU"
      done
    done
    for ((i = 0; i < GUEST_PLANES; i++)); do
      echo "link add pl$i netns swA mtu $GUEST_MTU type veth peer name pl$i netns swB mtu $GUEST_MTU"
    done
  } | ip -batch -
  for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
    for side in A B; do
      n=h$side$(of_device "$d")
      set_ipv6 "$n" accept_ra 1
      set_ipv6 "$n" accept_dad 0
      set_ipv6 "$n" router_solicitation_delay 0
      set_ipv6 "$n" use_tempaddr 0
    done
  done
}

# Prints the number of the routing table of device $2 on side $1.
device_table() { [[ $1 == A ]] && echo "10$((2 * $2 + 1))" || echo "10$((2 * $2 + 2))"; }

planes_rules() {
  local side d
  {
    for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
      for side in A B; do
        own_route_table "h$side$(of_device "$d")" "$(device_table "$side" "$d")" "fd00:${side,,}:$d::/48"
      done
    done
    local_rule_last
  } | ip -6 -batch -
}

# Prints the ip commands that add a plane's addresses and routes in one switch. The kernel removes these when the link
# goes down, so they are also needed when it comes up again.
planes_addresses() {
  local side=$1 i=$2 own peer d
  own=${side,,} peer=$(other "$side")
  peer=${peer,,}
  echo "addr replace fd00:ff:$i::$own/64 dev pl$i nodad"
  for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
    echo "route replace fd00:$peer:$d:$i::/64 via fd00:ff:$i::$peer dev pl$i"
  done
}

planes_switch() {
  local side=$1 own=${1,,} i d n
  {
    echo "link set lo up"
    for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
      n=nic$(of_device "$d")
      echo "addr add fe80::1/64 dev $n nodad"
      echo "link set $n up"
    done
    for ((i = 0; i < GUEST_PLANES; i++)); do
      echo "link set pl$i up"
    done
  } | ip -n "sw$side" -batch -
  {
    for ((i = 0; i < GUEST_PLANES; i++)); do
      planes_addresses "$side" "$i"
      for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
        echo "route add fd00:$own:$d:$i::/64 dev nic$(of_device "$d")"
      done
    done
  } | ip -n "sw$side" -batch -
  {
    for ((d = 0; d < GUEST_DEVICE_COUNT; d++)); do
      # Without explicit intervals, radvd waits at least 3 s between two advertisements.
      echo "interface nic$(of_device "$d") { AdvSendAdvert on; MinRtrAdvInterval 1; MaxRtrAdvInterval 2; MinDelayBetweenRAs 0.05; AdvIntervalOpt on;"
      echo "  AdvDefaultLifetime 1800; AdvSourceLLAddress on;"
      for ((i = 0; i < GUEST_PLANES; i++)); do
        echo "  prefix fd00:$own:$d:$i::/64 { AdvOnLink on; AdvAutonomous on; AdvValidLifetime 86400; AdvPreferredLifetime 14400; };"
      done
      echo "};"
    done
  } >"/run/radvd/$side.conf"
}

# Brings up the interface of device $2 on side $1, and restores the routes that were removed when it went down. SLAAC
# restores the addresses.
device_routes() {
  local interface own=${1,,}
  interface=h$1$(of_device "$2")
  printf '%s\n' "link set $interface up" "route replace default via fe80::1 dev $interface table $(device_table "$1" "$2")" \
    "neigh replace fe80::1 lladdr 02:00:00:0$2:0$own:fe dev $interface nud permanent" | ip -6 -batch -
}

# planes_ipv4: adds IPv4 addresses for the same planes, 10.10.<i>.1 on hA and 10.11.<i>.1 on hB. Only for one device on
# each side.
planes_ipv4() {
  local side own peer i name
  for name in all hA hB; do
    echo 0 >"/proc/sys/net/ipv4/conf/$name/rp_filter"
    # Both hosts are in one guest, so received packets have a source address that is local.
    echo 1 >"/proc/sys/net/ipv4/conf/$name/accept_local"
  done
  {
    own_route_table hA "$(device_table A 0)" 10.10.0.0/16
    own_route_table hB "$(device_table B 0)" 10.11.0.0/16
    local_rule_last
  } | ip -4 -batch -
  for side in A B; do
    own=$(ipv4_network "$side") peer=$(ipv4_network "$(other "$side")")
    ip netns exec "sw$side" bash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter'
    {
      for ((i = 0; i < GUEST_PLANES; i++)); do
        echo "addr add $own.$i.1/24 dev h$side noprefixroute"
      done
      echo "neigh replace $own.255.254 lladdr 02:00:00:00:0${side,,}:fe dev h$side nud permanent"
      echo "route replace default via $own.255.254 dev h$side onlink table $(device_table "$side" 0)"
    } | ip -4 -batch -
    {
      for ((i = 0; i < GUEST_PLANES; i++)); do
        echo "addr add 10.255.$i.${own##*.}/24 dev pl$i"
        echo "route add $peer.$i.0/24 via 10.255.$i.${peer##*.} dev pl$i"
        echo "route add $own.$i.0/24 dev nic"
        echo "neigh replace $own.$i.1 lladdr 02:00:00:00:0${side,,}:01 dev nic nud permanent"
      done
    } | ip -4 -n "sw$side" -batch -
  done
}

ipv4_network() { [[ $1 == A ]] && echo 10.10 || echo 10.11; }

wait_for_gids() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    (($(gids "$1" | grep -c ' fd00:') < GUEST_PLANES)) || return 0
    sleep 0.05
  done
  echo "guest: $1 has fewer than $GUEST_PLANES addresses after 30 s" >&2
  return 1
}

# --- the tap device --------------------------------------------------------------------------------

# rxe_on_eth0 ADDRESS/LENGTH: creates the device rxe0 on eth0, the interface to the outside.
rxe_on_eth0() {
  load_rdma
  set_ipv6 eth0 accept_dad 0
  ip link set eth0 up
  ip addr add "$1" dev eth0 nodad
  receive_on_one_processor eth0
  rdma link add rxe0 type rxe netdev eth0
}

# add_uplink NUMBER ADDRESS GATEWAY LLADDR: gives eth<NUMBER> this address, and routes its traffic to that router.
# Several such interfaces stay separate: traffic from one to another leaves the guest.
add_uplink() {
  local interface=eth$1 table=10$1
  set_ipv6 "$interface" accept_dad 0
  set_ipv6 "$interface" accept_ra 0
  ip link set "$interface" up
  {
    own_route_table "$interface" "$table" "$2"
    echo "addr add $2/64 dev $interface nodad"
    echo "neigh replace $3 lladdr $4 dev $interface nud permanent"
    echo "route add default via $3 dev $interface onlink table $table"
  } | ip -6 -batch -
  receive_on_one_processor "$interface"
}

# recreate_rxe NUMBER…: deletes and creates the device rxe<NUMBER> on eth<NUMBER>. Then its queue pairs get the same
# numbers as those of a fresh device, and their flows the same source ports.
recreate_rxe() {
  local number tries
  for number in "$@"; do
    [[ ! -e $GUEST_DEVICES/rxe$number ]] || rdma link delete "rxe$number"
    rdma link add "rxe$number" type rxe netdev "eth$number"
    for ((tries = 0; tries < 600; tries++)); do
      [[ -z $(global_gid_index "rxe$number") ]] || continue 2
      sleep 0.05
    done
    echo "guest: rxe$number has no address after 30 s" >&2
    return 1
  done
}

# global_gid_index DEVICE: prints the index of the first fd00:: address in the device's GID table. Stops there, since
# tables are long.
global_gid_index() {
  local file gid
  for file in "$GUEST_DEVICES/$1"/ports/1/gids/*; do
    read -r gid <"$file"
    if [[ $gid == fd00:* ]]; then
      echo "${file##*/}"
      return
    fi
  done
}

# reverse_addresses A|B: adds that side's addresses again, without SLAAC and from the last plane to the first. So the
# GID table of its device has the reverse order of the peer's.
reverse_addresses() {
  local side=$1 own=${1,,} i
  set_ipv6 "h$side" accept_ra 0
  {
    echo "addr flush dev h$side scope global"
    for ((i = GUEST_PLANES - 1; i >= 0; i--)); do
      echo "addr add fd00:$own:0:$i::1/64 dev h$side nodad"
    done
  } | ip -6 -batch -
}

# --- for tests -------------------------------------------------------------------------------------

# gids DEVICE: prints index and GID of each used entry. The order is that in which the addresses were added.
gids() {
  local file gid
  for file in "$GUEST_DEVICES/$1"/ports/1/gids/*; do
    read -r gid <"$file" && [[ $gid != 0000:0000:0000:0000:0000:0000:0000:0000 ]] && echo "${file##*/} $gid"
  done | sort -n
}

# gid_index DEVICE [PLANE]: prints the index of a plane's address in the device's GID table.
gid_index() {
  gids "$1" | sed -n "s/^\([0-9]*\) fd00:000[ab]:000[0-9]:$(printf %04x "${2:-0}"):.*/\1/p" | head -n 1
}

# counters DEVICE: prints the device's counters that aren't 0.
counters() {
  local file value
  for file in "$GUEST_DEVICES/$1"/ports/1/hw_counters/*; do
    read -r value <"$file" && [[ $value == 0 ]] || echo "${file##*/} $value"
  done
}

# Prints a plane's interface on side $1, behind the command that runs a program in its namespace.
plane_interface() {
  if [[ $GUEST_TOPOLOGY == planes ]]; then echo "pl$2"; else echo "h$1$2"; fi
}

in_plane() {
  local side=$1
  shift
  if [[ $GUEST_TOPOLOGY == planes ]]; then ip netns exec "sw$side" "$@"; else "$@"; fi
}

# plane_bytes: prints a line "PLANE FROM_A FROM_B" for each plane, with the bytes that each side has sent, including
# headers.
plane_bytes() {
  local i a b from_a from_b
  # One command for each side, since a command takes a tenth of a second or more under emulation.
  for ((i = 0; i < GUEST_PLANES; i++)); do
    a+=" /sys/class/net/$(plane_interface A "$i")/statistics/tx_bytes"
    b+=" /sys/class/net/$(plane_interface B "$i")/statistics/tx_bytes"
  done
  # shellcheck disable=SC2086
  mapfile -t from_a < <(in_plane A cat $a)
  # shellcheck disable=SC2086
  mapfile -t from_b < <(in_plane B cat $b)
  for ((i = 0; i < GUEST_PLANES; i++)); do
    echo "$i ${from_a[i]} ${from_b[i]}"
  done
}

# cut_plane I, heal_plane I: set the link of plane I down, and up again.
cut_plane() { in_plane A ip link set "$(plane_interface A "$1")" down; }

heal_plane() {
  local side own peer
  for side in A B; do
    in_plane "$side" ip link set "$(plane_interface "$side" "$1")" up
  done
  for side in A B; do
    if [[ $GUEST_TOPOLOGY == planes ]]; then
      planes_addresses "$side" "$1" | ip -n "sw$side" -batch -
    else
      own=${side,,} peer=$(other "$side")
      {
        echo "addr replace fd00:$own:0:$1::1/64 dev h$side$1 nodad"
        echo "route replace fd00:${peer,,}:0:$1::/64 dev h$side$1 table 1$([[ $side == A ]] && echo 0 || echo 1)$1"
        echo "route replace multicast ff00::/8 dev h$side$1 table 1$([[ $side == A ]] && echo 0 || echo 1)$1"
      } | ip -6 -batch -
    fi
  done
}

# remove_address A|B I [D], restore_address A|B I [D]: remove and restore the address of device D on plane I. SLAAC
# doesn't add a removed address again until it is restored.
remove_address() {
  local interface address
  interface=h$1$(of_device "${3:-0}")
  set_ipv6 "$interface" accept_ra 0
  address=$(ip -6 -o addr show dev "$interface" to "fd00:${1,,}:${3:-0}:$2::/64" | awk '{print $4}')
  ip addr del "$address" dev "$interface"
  echo "$address" >"/run/removed-$1-$2-${3:-0}"
}

restore_address() {
  local interface
  interface=h$1$(of_device "${3:-0}")
  ip addr add "$(<"/run/removed-$1-$2-${3:-0}")" dev "$interface" nodad
  set_ipv6 "$interface" accept_ra 1
}

# netem_plane A|B I loss 1% …: impairs the traffic from that side on plane I, with a fixed seed if netem supports that.
netem_plane() {
  local side=$1 interface
  interface=$(plane_interface "$side" "$2")
  shift 2
  in_plane "$side" tc qdisc replace dev "$interface" root netem limit 10000 "$@"
}

netem_clear() {
  local side
  for side in A B; do
    in_plane "$side" tc qdisc del dev "$(plane_interface "$side" "$1")" root 2>/dev/null || true
  done
}

# await_listener PORT PID: waits until the TCP port PORT has a listener. Fails if the process PID ends before that.
await_listener() {
  local listening
  listening=":$(printf %04X "$1") [0-9A-F]*:0000 0A "
  while kill -0 "$2" 2>/dev/null; do
    ! grep -q "$listening" /proc/net/tcp /proc/net/tcp6 || return 0
    sleep 0.02
  done
  return 1
}

# Exports all functions and variables to the shells that the command starts.
set -a
eval "$(declare -f)"
set +a
