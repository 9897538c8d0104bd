// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The gateway's data plane, on the ingress of each LAN interface: selects the SRv6 segment list of each packet. It sets
// the packet's mark, by which the kernel's policy routing selects the list's route, and the packet's hash, from which
// the kernel derives the outer flow label (net.ipv6.seg6_flowlabel).
//
// GatewayMaps.java has the same map layouts. A test checks that this program and Java agree on layouts and hashes.
#include "heddle_bpf.h"

#include <linux/pkt_cls.h>

#define MOST_POLICIES 64
#define BUCKETS 256
#define LISTS 65 // indexed by list id, 1 to 64; 0 means no list
#define MOST_FLOWS 65536
#define MOST_STEERS 32768

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_SERVICE_VLAN 0x88a8
#define MOST_TAGS 2

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_SCTP 132

#define ROCE_PORT 4791 // RoCEv2 annex A17
#define ROCE_PORTS 64  // number of ports of a host's soft devices, from ROCE_PORT on (RocePorts.COUNT)
#define BTH_BYTES 12
#define MANAGEMENT_QUEUE_PAIR 1 // QP 1, the general services interface: counted, never steered

struct address {
  __be32 words[4];
};

struct prefix {
  __u32 length;
  struct address address;
};

struct policy_buckets {
  __u8 list[BUCKETS];
};

struct flow_key {
  struct address destination;
  __u32 queue_pair;
  __u32 policy;
};

struct flow {
  __u64 bytes; // IP bytes as sent on the wire: a segment train counts as its packets
  __u64 packets;
  __u64 first_ns;
  __u64 last_ns;
  __u64 wants_move_since_ns; // 0 if the queue pair is on its wanted list
  struct address source;
  __u32 hash;
  __u16 source_port;
  __u8 list;
  __u8 is_steered;
};

struct steer_key {
  struct address destination;
  struct address source; // :: means any source
  __u32 queue_pair;
};

struct steer {
  __u32 list;
};

struct settings {
  __u64 digest; // digest of the program's own bytes; the program doesn't use it
  __u64 gap_ns; // pause of the queue pair for which a move waits; 0 moves at once
  __u64 deadline_ns;
  __u32 seed;
  __u32 mark_shift;
  __u32 steers;
  __u32 steers_by_source;
};

struct count {
  __u64 packets;
  __u64 bytes;
};

enum counter { NO_POLICY, ROCE, OTHER, STEERED, NOT_IP, HELD, COUNTERS };

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
  MAP_NUMBER(max_entries, 1);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, struct settings);
} settings SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_LPM_TRIE);
  MAP_NUMBER(max_entries, 1024);
  MAP_NUMBER(map_flags, BPF_F_NO_PREALLOC);
  MAP_TYPE(key, struct prefix);
  MAP_TYPE(value, __u32);
} policies SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
  MAP_NUMBER(max_entries, MOST_POLICIES);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, struct policy_buckets);
} buckets SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
  MAP_NUMBER(max_entries, LISTS);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, __u32);
} alive SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
  MAP_NUMBER(max_entries, MOST_FLOWS);
  MAP_TYPE(key, struct flow_key);
  MAP_TYPE(value, struct flow);
} flows SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
  MAP_NUMBER(max_entries, MOST_STEERS);
  MAP_TYPE(key, struct steer_key);
  MAP_TYPE(value, struct steer);
} steers SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  MAP_NUMBER(max_entries, COUNTERS);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, struct count);
} counters SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  MAP_NUMBER(max_entries, LISTS);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, struct count);
} list_counters SECTION(".maps");

struct ipv4_header {
  __u8 version_and_length;
  __u8 service;
  __be16 length;
  __be16 identification;
  __be16 fragment;
  __u8 time_to_live;
  __u8 protocol;
  __be16 checksum;
  __be32 source;
  __be32 destination;
};

struct ipv6_header {
  __be32 version_and_label;
  __be16 length;
  __u8 next_header;
  __u8 hop_limit;
  struct address source;
  struct address destination;
};

struct udp_and_bth {
  __be16 source_port;
  __be16 destination_port;
  __be16 length;
  __be16 checksum;
  __be32 bth[BTH_BYTES / 4];
};

struct packet {
  struct address source;
  struct address destination;
  __be16 ports[2];
  __u32 queue_pair;
  __u32 ip_at;
  __u32 payload_at; // offset after the headers that each packet of a segment train repeats
  __u8 protocol;
  __u8 is_roce;
};

static ALWAYS_INLINE void add(void *map, __u32 at, __u64 packets, __u64 bytes) {
  struct count *found = bpf_map_lookup_elem(map, &at);
  if (found) {
    found->packets += packets;
    found->bytes += bytes;
  }
}

// Copies bytes of the packet, a multiple of four. Bytes in the packet's linear part are read directly, since each call
// of a kernel helper costs some nanoseconds.
static ALWAYS_INLINE long load(struct __sk_buff *skb, __u32 at, void *to, __u32 bytes) {
  const __u8 *data = (const __u8 *)(long)skb->data + at;
  if (data + bytes > (const __u8 *)(long)skb->data_end) {
    return bpf_skb_load_bytes(skb, at, to, bytes);
  }
  for (__u32 i = 0; i < bytes / 4; i++) {
    ((__u32 *)to)[i] = ((const __u32 *)data)[i];
  }
  return 0;
}

// Copies an EtherType: directly from the linear part or by a kernel helper, like load().
static ALWAYS_INLINE long load_type(struct __sk_buff *skb, __u32 at, __be16 *type) {
  const __u8 *data = (const __u8 *)(long)skb->data + at;
  if (data + sizeof *type > (const __u8 *)(long)skb->data_end) {
    return bpf_skb_load_bytes(skb, at, type, sizeof *type);
  }
  *type = *(const __be16 *)data;
  return 0;
}

// Reads the ports and, for RoCEv2, the queue pair. A packet too short for ports is hashed by its addresses only.
static ALWAYS_INLINE void read_transport(struct __sk_buff *skb, struct packet *packet, __u32 at) {
  packet->payload_at = at;
  if (packet->protocol == PROTOCOL_UDP) {
    struct udp_and_bth udp;
    packet->payload_at = at + 8;
    if (load(skb, at, &udp, sizeof udp) == 0) {
      packet->ports[0] = udp.source_port;
      packet->ports[1] = udp.destination_port;
      // All ports of the soft devices' range are hashed as the first one, so that a queue pair's path doesn't depend on
      // the port.
      if ((__u16)(FROM_NETWORK_16(udp.destination_port) - ROCE_PORT) < ROCE_PORTS) {
        packet->ports[1] = FROM_NETWORK_16(ROCE_PORT);
        packet->is_roce = 1;
        packet->queue_pair = FROM_NETWORK_32(udp.bth[1]) & 0xffffff;
      }
      return;
    }
  }
  if (packet->protocol == PROTOCOL_UDP || packet->protocol == PROTOCOL_TCP || packet->protocol == PROTOCOL_SCTP) {
    if (bpf_skb_load_bytes(skb, at, packet->ports, sizeof packet->ports) != 0) {
      packet->ports[0] = packet->ports[1] = 0;
    }
  }
}

static ALWAYS_INLINE int read_packet(struct __sk_buff *skb, struct packet *packet) {
  __be16 type;
  __u32 at = 12;
  if (load_type(skb, at, &type) != 0) {
    return 0;
  }
  for (int tag = 0; tag < MOST_TAGS; tag++) {
    if (type != FROM_NETWORK_16(ETHERTYPE_VLAN) && type != FROM_NETWORK_16(ETHERTYPE_SERVICE_VLAN)) {
      break;
    }
    at += 4;
    if (load_type(skb, at, &type) != 0) {
      return 0;
    }
  }
  at += 2;
  packet->ip_at = at;
  if (type == FROM_NETWORK_16(ETHERTYPE_IPV6)) {
    struct ipv6_header ip;
    if (load(skb, at, &ip, sizeof ip) != 0) {
      return 0;
    }
    packet->source = ip.source;
    packet->destination = ip.destination;
    packet->protocol = ip.next_header;
    // Ports after an extension header, such as a fragment's, aren't read.
    read_transport(skb, packet, at + sizeof ip);
    return 1;
  }
  if (type == FROM_NETWORK_16(ETHERTYPE_IPV4)) {
    struct ipv4_header ip;
    if (load(skb, at, &ip, sizeof ip) != 0) {
      return 0;
    }
    // IPv4 addresses are stored as IPv4-mapped IPv6 addresses (RFC 4291, 2.5.5.2).
    packet->source.words[2] = packet->destination.words[2] = FROM_NETWORK_32(0xffff);
    packet->source.words[3] = ip.source;
    packet->destination.words[3] = ip.destination;
    packet->protocol = ip.protocol;
    if ((ip.fragment & FROM_NETWORK_16(0x3fff)) == 0) {
      read_transport(skb, packet, at + (ip.version_and_length & 0xf) * 4);
    }
    return 1;
  }
  return 0;
}

static ALWAYS_INLINE __u32 rotate(__u32 value, int bits) { return value << bits | value >> (32 - bits); }

// Mixes one word into MurmurHash3, 32-bit form (public domain, A. Appleby).
static ALWAYS_INLINE __u32 mix(__u32 hash, __u32 word) {
  word *= 0xcc9e2d51;
  word = rotate(word, 15);
  word *= 0x1b873593;
  return rotate(hash ^ word, 13) * 5 + 0xe6546b64;
}

// Returns the packet's hash: of the 5-tuple and the queue pair for RoCEv2, of the 5-tuple for other packets.
static ALWAYS_INLINE __u32 hash_of(const struct packet *packet, __u32 seed) {
  __u32 hash = seed;
  for (int i = 0; i < 4; i++) {
    hash = mix(hash, FROM_NETWORK_32(packet->source.words[i]));
  }
  for (int i = 0; i < 4; i++) {
    hash = mix(hash, FROM_NETWORK_32(packet->destination.words[i]));
  }
  hash = mix(hash, (__u32)FROM_NETWORK_16(packet->ports[0]) << 16 | FROM_NETWORK_16(packet->ports[1]));
  hash = mix(hash, (__u32)packet->protocol << 24 | packet->queue_pair);
  hash ^= 40; // number of bytes mixed in
  hash = (hash ^ hash >> 16) * 0x85ebca6b;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35;
  return hash ^ hash >> 16;
}

// Returns the list that a steering entry assigns to the queue pair; 0 if there is no entry.
static ALWAYS_INLINE __u32 steered_list(const struct packet *packet, const struct settings *set) {
  struct steer_key key = {.destination = packet->destination, .queue_pair = packet->queue_pair};
  struct steer *found = 0;
  if (packet->queue_pair == MANAGEMENT_QUEUE_PAIR) {
    return 0;
  }
  if (set->steers_by_source != 0) {
    key.source = packet->source;
    found = bpf_map_lookup_elem(&steers, &key);
  }
  if (!found && set->steers != 0) {
    key.source = (struct address){};
    found = bpf_map_lookup_elem(&steers, &key);
  }
  return found ? found->list : 0;
}

static ALWAYS_INLINE int is_alive(__u32 list) {
  __u32 *found = bpf_map_lookup_elem(&alive, &list);
  return found && *found != 0;
}

// Returns whether a queue pair moves to its new list with this packet. If packets overtake each other, a NIC requests
// them again (go-back-N). So the move may wait for a gap, unless the old list is dead.
static ALWAYS_INLINE int moves_now(struct flow *flow, const struct settings *set, __u64 now) {
  if (set->gap_ns == 0 || flow->list == 0 || !is_alive(flow->list)) {
    return 1;
  }
  if (now - flow->last_ns >= set->gap_ns) {
    return 1;
  }
  if (flow->wants_move_since_ns == 0) {
    flow->wants_move_since_ns = now;
  }
  return now - flow->wants_move_since_ns >= set->deadline_ns;
}

static ALWAYS_INLINE __u32 count_flow(const struct packet *packet, const struct settings *set, __u32 policy, __u32 hash,
                                      __u32 wanted, __u32 steered, __u64 packets, __u64 bytes) {
  struct flow_key key = {.destination = packet->destination, .queue_pair = packet->queue_pair, .policy = policy};
  __u64 now = bpf_ktime_get_ns();
  struct flow *flow = bpf_map_lookup_elem(&flows, &key);
  if (!flow) {
    struct flow fresh = {
        .bytes = bytes,
        .packets = packets,
        .first_ns = now,
        .last_ns = now,
        .source = packet->source,
        .hash = hash,
        .source_port = FROM_NETWORK_16(packet->ports[0]),
        .list = wanted,
        .is_steered = steered != 0,
    };
    bpf_map_update_elem(&flows, &key, &fresh, BPF_ANY);
    return wanted;
  }
  __sync_fetch_and_add(&flow->bytes, bytes);
  __sync_fetch_and_add(&flow->packets, packets);
  if (flow->list != wanted) {
    if (moves_now(flow, set, now)) {
      flow->list = wanted;
      flow->wants_move_since_ns = 0;
    } else {
      add(&counters, HELD, packets, bytes);
      wanted = flow->list;
    }
  } else {
    flow->wants_move_since_ns = 0;
  }
  flow->is_steered = steered != 0;
  flow->last_ns = now;
  flow->source = packet->source;
  flow->hash = hash;
  flow->source_port = FROM_NETWORK_16(packet->ports[0]);
  return wanted;
}

SECTION("tc")
int heddle_gateway(struct __sk_buff *skb) {
  struct packet packet = {};
  __u32 zero = 0;
  struct settings *set = bpf_map_lookup_elem(&settings, &zero);
  if (!set) {
    return TC_ACT_UNSPEC;
  }
  if (!read_packet(skb, &packet)) {
    add(&counters, NOT_IP, 1, skb->len);
    return TC_ACT_UNSPEC;
  }
  __u64 packets = skb->gso_segs > 1 ? skb->gso_segs : 1;
  __u64 bytes = skb->len - packet.ip_at + (packets - 1) * (packet.payload_at - packet.ip_at);
  struct prefix prefix = {.length = 128, .address = packet.destination};
  __u32 *policy = bpf_map_lookup_elem(&policies, &prefix);
  struct policy_buckets *by_hash = policy ? bpf_map_lookup_elem(&buckets, policy) : 0;
  if (!by_hash) {
    add(&counters, NO_POLICY, packets, bytes);
    return TC_ACT_UNSPEC;
  }
  __u32 hash = hash_of(&packet, set->seed);
  // The bucket uses eight bits of the hash that the outer flow label doesn't use (FlowHash.java), so that the choice of
  // later routers, which hash the label, is independent of it.
  __u32 list = by_hash->list[hash >> 16 & (BUCKETS - 1)];
  if (packet.is_roce) {
    __u32 steered = steered_list(&packet, set);
    if (steered != 0) {
      list = steered;
      add(&counters, STEERED, packets, bytes);
    }
    list = count_flow(&packet, set, *policy, hash, list, steered, packets, bytes);
    add(&counters, ROCE, packets, bytes);
  } else {
    add(&counters, OTHER, packets, bytes);
  }
  add(&list_counters, list, packets, bytes);
  bpf_set_hash(skb, hash);
  skb->mark = (skb->mark & ~(0xffU << (set->mark_shift & 31))) | list << (set->mark_shift & 31);
  return TC_ACT_UNSPEC;
}

char licence[] SECTION("license") = "GPL";
