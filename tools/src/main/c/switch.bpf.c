// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Program of a lab's switch, attached to the ingress of the switch's ports. For each RoCEv2 packet it selects one of
// the switch's equal links. It marks the packet for the kernel's policy routing, which has a table per link. The table
// of a failed link has no route, so the route of the main table applies.
//
// Packets with a 1 in the reserved bits of BTH byte 4 are data and may be sprayed. All others stay on the link of their
// flow's hash. SwitchMaps.java has the same layouts of maps. JenkinsHash.java and nftables' jhash have the same hash.
#include "heddle_bpf.h"

#include <linux/pkt_cls.h>

#define MOST_GROUPS 64
#define MOST_MEMBERS 32

#define ETHERTYPE_IPV6 0x86dd
#define ETHERNET_BYTES 14
#define PROTOCOL_UDP 17
#define ROCE_PORT 4791  // RoCEv2 annex A17
#define RESERVED_6 0x3f // the low six bits of BTH byte 4 (InfiniBand volume 1, 9.2)

#define START 0xdeadbeef // initial value of lookup3

enum mode { HASH, SPRAY, SPRAYLINK };

struct address {
  __be32 words[4];
};

struct prefix {
  __u32 length;
  struct address address;
};

struct settings {
  __u32 seed;
  __u32 mode;
  __u32 by_port;   // whether only packets received on a port in spray_ports may be sprayed
  __u32 by_prefix; // whether only packets to a prefix in spray_prefixes may be sprayed
};

struct member {
  __u64 queue_bytes; // bytes in the member's queue at the last sample by SwitchWatch.java
  __u64 sent_bytes;  // bytes sent over the member up to that sample
  __u64 sampled_ns;  // time of that sample, by bpf_ktime_get_ns
  __u32 ns_per_kib;  // time in ns to send 1024 bytes at the member's rate
  __u32 mark;
};

struct group {
  __u32 alive;  // number of valid entries in living and order
  __u32 better; // number of entries at the beginning of order that SprayLink selects among
  __u32 mean_ns_per_kib;
  __u32 unused;
  __u8 living[MOST_MEMBERS]; // members that are up, in ascending order
  __u8 order[MOST_MEMBERS];  // members that are up, the least loaded first
  struct member members[MOST_MEMBERS];
};

struct count {
  __u64 marked_packets; // each packet of a segment train counts
  __u64 marked_bytes;
  __u64 other_packets;
  __u64 other_bytes;
  __u64 corrected_packets; // marked packets, or segment trains, that a correction moved to this member
};

struct group_counts {
  struct count members[MOST_MEMBERS];
};

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
  MAP_NUMBER(max_entries, 1);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, struct settings);
} settings SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_LPM_TRIE);
  MAP_NUMBER(max_entries, MOST_GROUPS);
  MAP_NUMBER(map_flags, BPF_F_NO_PREALLOC);
  MAP_TYPE(key, struct prefix);
  MAP_TYPE(value, __u32);
} routes SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
  MAP_NUMBER(max_entries, MOST_GROUPS);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, struct group);
} groups SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
  MAP_NUMBER(max_entries, MOST_GROUPS);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, struct group_counts);
} counts SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
  MAP_NUMBER(max_entries, 256);
  MAP_TYPE(key, __u32);
  MAP_TYPE(value, __u32);
} spray_ports SECTION(".maps");

struct {
  MAP_NUMBER(type, BPF_MAP_TYPE_LPM_TRIE);
  MAP_NUMBER(max_entries, 256);
  MAP_NUMBER(map_flags, BPF_F_NO_PREALLOC);
  MAP_TYPE(key, struct prefix);
  MAP_TYPE(value, __u32);
} spray_prefixes SECTION(".maps");

struct headers {
  __be16 ethertype;
  __be32 version_and_label;
  __be16 length;
  __u8 next_header;
  __u8 hop_limit;
  struct address source;
  struct address destination;
  __be16 source_port;
  __be16 destination_port;
  __be16 udp_length;
  __be16 checksum;
  __be32 bth[3];
} __attribute__((packed));

static ALWAYS_INLINE __u32 rotate(__u32 value, int bits) { return value << bits | value >> (32 - bits); }

static ALWAYS_INLINE __u32 last(__u32 a, __u32 b, __u32 c) {
  c = (c ^ b) - rotate(b, 14);
  a = (a ^ c) - rotate(c, 11);
  b = (b ^ a) - rotate(a, 25);
  c = (c ^ b) - rotate(b, 16);
  a = (a ^ c) - rotate(c, 4);
  b = (b ^ a) - rotate(a, 14);
  return (c ^ b) - rotate(b, 24);
}

// Returns nftables' jhash of ip6 saddr . ip6 daddr . udp sport: 36 bytes, since each field is padded to four bytes.
static ALWAYS_INLINE __u32 flow_hash(const struct headers *packet, __u32 seed) {
  __u32 words[9];
  for (int i = 0; i < 4; i++) {
    words[i] = packet->source.words[i];
    words[4 + i] = packet->destination.words[i];
  }
  words[8] = packet->source_port;
  __u32 a = START + 36 + seed, b = a, c = a;
  for (int i = 0; i < 6; i += 3) {
    a += words[i];
    b += words[i + 1];
    c += words[i + 2];
    a = (a - c) ^ rotate(c, 4);
    c += b;
    b = (b - a) ^ rotate(a, 6);
    a += c;
    c = (c - b) ^ rotate(b, 8);
    b += a;
    a = (a - c) ^ rotate(c, 16);
    c += b;
    b = (b - a) ^ rotate(a, 19);
    a += c;
    c = (c - b) ^ rotate(b, 4);
    b += a;
  }
  return last(a + words[6], b + words[7], c + words[8]);
}

// Returns Linux' jhash_2words with initval 0.
static ALWAYS_INLINE __u32 two_words(__u32 first, __u32 second) {
  return last(first + START + 8, second + START + 8, START + 8);
}

// Returns the time in ns until a packet that is sent over a member now has left the member's queue.
static ALWAYS_INLINE __u64 time_of(const struct group *group, const struct group_counts *sent, __u32 at, __u64 now,
                                   __u64 length) {
  const struct member *member = &group->members[at & (MOST_MEMBERS - 1)];
  const struct count *count = &sent->members[at & (MOST_MEMBERS - 1)];
  __u64 bytes = member->queue_bytes + count->marked_bytes + count->other_bytes - member->sent_bytes;
  __u64 ns = bytes * member->ns_per_kib >> 10;
  __u64 passed = now - member->sampled_ns;
  return (ns > passed ? ns - passed : 0) + (length * member->ns_per_kib >> 10);
}

// Selects a member by hash among the better half, with correction, like SprayHash.java and H3C's white paper. The order
// is as old as the last sample, and a fast link's queue may have drained since. So the best member is the one with the
// least time_of among all that are up.
static ALWAYS_INLINE __u32 spray_link(const struct group *group, struct group_counts *sent, __u32 hash, __u64 length) {
  // The white paper's formula, in which size is the number of members minus one.
  __u32 size = group->better - 1;
  __u32 offset = ((hash & 65535) % (size + 1)) & 0x3FF;
  __u32 chosen = group->order[offset & (MOST_MEMBERS - 1)];
  __u64 now = bpf_ktime_get_ns();
  __u64 own = time_of(group, sent, chosen, now, length);
  __u64 least = own;
  __u32 best = chosen;
  for (__u32 i = 0; i < MOST_MEMBERS && i < group->alive; i++) {
    __u64 time = time_of(group, sent, group->living[i], now, length);
    if (time < least) {
      least = time;
      best = group->living[i];
    }
  }
  if (own > least + (length * group->mean_ns_per_kib >> 11)) {
    __sync_fetch_and_add(&sent->members[best & (MOST_MEMBERS - 1)].corrected_packets, 1);
    return best;
  }
  return chosen;
}

static ALWAYS_INLINE int may_spray(const struct __sk_buff *skb, const struct settings *set, struct prefix *to) {
  __u32 port = skb->ifindex;
  if (set->mode == HASH || (set->by_port && !bpf_map_lookup_elem(&spray_ports, &port))) {
    return 0;
  }
  return !set->by_prefix || bpf_map_lookup_elem(&spray_prefixes, to);
}

SECTION("tc")
int heddle_switch(struct __sk_buff *skb) {
  __u32 zero = 0;
  struct headers packet;
  struct settings *set = bpf_map_lookup_elem(&settings, &zero);
  if (!set || bpf_skb_load_bytes(skb, ETHERNET_BYTES - 2, &packet, sizeof packet) != 0 ||
      packet.ethertype != FROM_NETWORK_16(ETHERTYPE_IPV6) || packet.next_header != PROTOCOL_UDP ||
      packet.destination_port != FROM_NETWORK_16(ROCE_PORT)) {
    return TC_ACT_UNSPEC;
  }
  struct prefix to = {.length = 128, .address = packet.destination};
  __u32 *number = bpf_map_lookup_elem(&routes, &to);
  struct group *group = number ? bpf_map_lookup_elem(&groups, number) : 0;
  struct group_counts *sent = number ? bpf_map_lookup_elem(&counts, number) : 0;
  if (!group || !sent || group->alive == 0) {
    return TC_ACT_UNSPEC;
  }
  int marked = (FROM_NETWORK_32(packet.bth[1]) >> 24 & RESERVED_6) != 0;
  __u32 hash = flow_hash(&packet, set->seed);
  __u32 chosen;
  if (!marked || !may_spray(skb, set, &to)) {
    // Scales the hash to the members as the kernel does for nftables.
    __u32 at = (__u64)hash * group->alive >> 32;
    chosen = group->living[at & (MOST_MEMBERS - 1)];
  } else if (set->mode == SPRAY) {
    __u32 at = (__u64)bpf_get_prandom_u32() * group->alive >> 32;
    chosen = group->living[at & (MOST_MEMBERS - 1)];
  } else {
    // The packet sequence number is mixed in, so that a flow's packets have different hashes.
    chosen = spray_link(group, sent, two_words(hash, FROM_NETWORK_32(packet.bth[2]) & 0xffffff), skb->len);
  }
  chosen &= MOST_MEMBERS - 1;
  struct count *count = &sent->members[chosen];
  __u64 packets = skb->gso_segs > 1 ? skb->gso_segs : 1;
  if (marked) {
    __sync_fetch_and_add(&count->marked_packets, packets);
    __sync_fetch_and_add(&count->marked_bytes, skb->len);
  } else {
    __sync_fetch_and_add(&count->other_packets, packets);
    __sync_fetch_and_add(&count->other_bytes, skb->len);
  }
  skb->mark = group->members[chosen].mark;
  return TC_ACT_UNSPEC;
}

char licence[] SECTION("license") = "GPL";
