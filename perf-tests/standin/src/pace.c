/* Timing: a port's sending time, and the protocol's time-outs. */
#include "local.h"

enum { PACKET_OVERHEAD_BYTES = 102 }; /* bytes of preamble, gap, Ethernet, IPv6, UDP, transport header and checksums */

/*
 * Occupies a port for the time that `bytes` take, from `from` on or, if the port is still busy then, from `clock` on.
 * Advances `clock` to the end of this time and returns it.
 */
static uint64_t occupy(_Atomic uint64_t *clock, uint64_t from, uint64_t bytes, uint64_t bits_per_second) {
  if (bits_per_second == 0) return from;
  uint64_t duration = (uint64_t)((double)bytes * 8e9 / (double)bits_per_second);
  uint64_t until = atomic_load(clock), end;
  do {
    end = (until > from ? until : from) + duration;
  } while (!atomic_compare_exchange_weak(clock, &until, end));
  return end;
}

uint64_t arrival_ns(const struct shared_pair *pair, const struct work *work) {
  struct port *near = port_of(pair->host, pair->device);
  struct shared_pair *peer = peer_of(pair);
  struct port *far = peer == NULL ? near : port_of(peer->host, peer->device);
  uint64_t near_rate = atomic_load_explicit(&near->bits_per_second, memory_order_relaxed);
  uint64_t far_rate = atomic_load_explicit(&far->bits_per_second, memory_order_relaxed);
  uint64_t latency = atomic_load_explicit(&near->latency_ns, memory_order_relaxed);
  if (near_rate == 0 && far_rate == 0 && latency == 0) return 0;
  uint64_t packets = work->length / pair->mtu_bytes + 1;
  uint64_t bytes = work->length + packets * PACKET_OVERHEAD_BYTES, now = now_ns();
  bool reads = work->opcode == IBV_WR_RDMA_READ;
  struct port *from = reads ? far : near, *to = reads ? near : far;
  uint64_t sent = occupy(&from->sending_until_ns, reads ? now + latency : now, bytes, reads ? far_rate : near_rate);
  uint64_t to_rate = reads ? near_rate : far_rate;
  /* The first bit arrives while the last bit is still being sent, so a receiver of the same rate adds no time. */
  uint64_t receiving = to_rate == 0 ? 0 : (uint64_t)((double)bytes * 8e9 / (double)to_rate);
  uint64_t begin = sent > receiving ? sent - receiving : 0;
  uint64_t received = occupy(&to->receiving_until_ns, begin, bytes, to_rate);
  return (received > sent ? received : sent) + latency;
}

/* Returns the wait time of an RNR timer code, by the table in the verbs' manual. */
uint64_t rnr_wait_ns(uint32_t timer) {
  static const uint32_t hundredths_of_ms[32] = {65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                                48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                                2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return (uint64_t)hundredths_of_ms[timer & 31] * 10000;
}

/* Returns the timeout of a code, 4.096 us * 2^timeout; 0 for code 0, which means no time limit. */
uint64_t ack_timeout_ns(uint32_t timeout) { return timeout == 0 ? 0 : (uint64_t)4096 << timeout; }
