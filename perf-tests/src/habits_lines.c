/*
 * A receiver that doesn't wait for `test`, like a GPU under NCCL's protocols LL and LL128: it polls the lines of its
 * receive buffer, and a line whose flag has arrived must have its data. After reading a line, the receiver overwrites
 * it with a value, which must still be there when the buffer is posted again. Late or duplicate writes are thus
 * detected. An LL line has 8 bytes: one half is data, the other half is the flag. An LL128 line has 128 bytes, the last
 * eight of which are the flag.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "habits.h"

enum { SLOTS = 8, WORD = 8, PASSES_PER_TIME_CHECK = 4096 };
#define USED_FLAG 0xfeedbeefu /* flag of a used line; message numbers stay below it */

typedef _Atomic uint64_t word;

static unsigned char *buffers;
/*
 * Counters of messages: posted and finished (by the thread that calls the plugin), and read completely (by the polling
 * thread).
 */
static atomic_ullong posted, finished, polled;

static word *slot_of(uint64_t message) { return (word *)(buffers + message % SLOTS * options.max_bytes); }

static size_t words_of_line(void) { return (size_t)options.line_bytes / WORD; }

/* Returns the number of lines of a message: mostly a few, sometimes as many as fit. */
static size_t lines_of(uint64_t message) {
  uint64_t drawn = mixed(options.seed, message), value = drawn >> 8;
  size_t most = options.max_bytes / (size_t)options.line_bytes, few = 8192 / (size_t)options.line_bytes;
  return 1 + (size_t)(value % (drawn % 4 != 0 && few < most ? few : most));
}

static uint64_t word_of(uint64_t message, size_t at) {
  uint64_t data = mixed(options.seed + message, at), flag = message + 1;
  if (options.line_bytes == WORD) return flag << 32 | (data & 0xffffffff);
  return at % words_of_line() == words_of_line() - 1 ? flag : data;
}

static uint64_t word_after_use(uint64_t message, size_t at) {
  return (uint64_t)USED_FLAG << 32 | (mixed(~options.seed - message, at) & 0xffffffff);
}

/* ---- the polling thread ---- */

static int has_flag(uint64_t message, const word *line) {
  uint64_t last = atomic_load_explicit(&line[words_of_line() - 1], memory_order_acquire);
  return (options.line_bytes == WORD ? last >> 32 : last) == message + 1;
}

static void read_line(uint64_t message, word *slot, size_t line) {
  size_t first = line * words_of_line();
  for (size_t at = first; at < first + words_of_line(); at++) {
    uint64_t there = atomic_load_explicit(&slot[at], memory_order_relaxed);
    WANT(there == word_of(message, at),
         "message %llu, line %zu: its flag was set, its word %zu was %#llx and not %#llx", (unsigned long long)message,
         line, at - first, (unsigned long long)there, (unsigned long long)word_of(message, at));
  }
}

static void overwrite_line(uint64_t message, word *slot, size_t line) {
  size_t first = line * words_of_line();
  for (size_t at = first; at < first + words_of_line(); at++) {
    atomic_store_explicit(&slot[at], word_after_use(message, at), memory_order_relaxed);
  }
}

static void poll_message(uint64_t message, unsigned char *was_read) {
  size_t lines = lines_of(message), left = lines, passes = 0;
  word *slot = slot_of(message);
  double begun = now_seconds();
  for (size_t line = 0; line < lines; line++) was_read[line] = 0;
  while (left > 0) {
    size_t before = left;
    for (size_t line = 0; line < lines; line++) {
      if (was_read[line] || !has_flag(message, &slot[line * words_of_line()])) continue;
      read_line(message, slot, line);
      if (options.early) overwrite_line(message, slot, line);
      was_read[line] = 1;
      left--;
    }
    if (left < before) continue;
    sched_yield();
    WANT(++passes % PASSES_PER_TIME_CHECK != 0 || now_seconds() - begun < options.timeout_seconds,
         "message %llu: %zu of %zu lines never arrived", (unsigned long long)message, left, lines);
  }
}

static void *poll_all(void *unused) {
  (void)unused;
  unsigned char *was_read = aligned_memory(options.max_bytes / WORD);
  for (uint64_t message = 0; message < (uint64_t)options.rounds; message++) {
    while (atomic_load(&posted) <= message) sched_yield();
    poll_message(message, was_read);
    atomic_store(&polled, message + 1);
    progress();
  }
  free(was_read);
  return NULL;
}

/* ---- the thread of the plugin's calls ---- */

static int a_plane_failed;

/*
 * Checks that the plugin hasn't written to a message's lines since the polling thread read and overwrote them. After a
 * plane's failure, a chunk may be retransmitted before its receive has ended. So with --early the check is skipped
 * after such a failure.
 */
static void check_used(uint64_t message) {
  word *slot = slot_of(message);
  a_plane_failed |= net_lines_with(options.plane_failed) > 0;
  if (options.early && a_plane_failed) return;
  for (size_t at = 0; at < lines_of(message) * words_of_line(); at++) {
    uint64_t there = atomic_load(&slot[at]);
    WANT(there == word_after_use(message, at),
         "message %llu, line %zu: word %zu was written again after it was used: %#llx", (unsigned long long)message,
         at / words_of_line(), at % words_of_line(), (unsigned long long)there);
  }
}

static void *post_receive(void *comm, void *memory, uint64_t message) {
  void *data = slot_of(message), *request = NULL;
  size_t size = options.max_bytes;
  int tag = 0;
  check(net_irecv(&net, comm, 1, &data, &size, &tag, &memory, &request), "irecv");
  return request;
}

static void receive_all(void *comm, void *memory) {
  void *requests[SLOTS];
  uint64_t next = 0, done = 0, used = 0, rounds = (uint64_t)options.rounds;
  while (used < rounds) {
    if (next < rounds && next - used < SLOTS) {
      if (next >= SLOTS) check_used(next - SLOTS);
      void *request = post_receive(comm, memory, next);
      if (request != NULL) {
        requests[next++ % SLOTS] = request;
        atomic_store(&posted, next);
      }
    }
    int is_done = 0, got = -1;
    if (done < next) check(net_test(&net, requests[done % SLOTS], &is_done, &got), "test");
    if (is_done) {
      WANT((size_t)got == lines_of(done) * (size_t)options.line_bytes, "message %llu of %zu lines has %d bytes",
           (unsigned long long)done, lines_of(done), got);
      atomic_store(&finished, ++done);
      progress();
    }
    if (used < done && used < atomic_load(&polled)) {
      for (size_t line = 0; !options.early && line < lines_of(used); line++) overwrite_line(used, slot_of(used), line);
      if (options.spoil_late && used % 5 == 4) atomic_store(&slot_of(used)[0], word_of(used, 0));
      used++;
    }
    if (!is_done) sched_yield();
  }
}

static uint64_t first_at_rest(void) { return options.rounds > SLOTS ? (uint64_t)(options.rounds - SLOTS) : 0; }

static void check_all_used(void) {
  for (uint64_t message = first_at_rest(); message < (uint64_t)options.rounds; message++) check_used(message);
}

static void fill_lines(uint64_t message) {
  word *slot = slot_of(message);
  size_t words = lines_of(message) * words_of_line();
  for (size_t at = 0; at < words; at++) atomic_store_explicit(&slot[at], word_of(message, at), memory_order_relaxed);
  if (options.spoil_data && message % 5 == 4) atomic_fetch_xor(&slot[words - words_of_line()], 0x100);
}

static void send_all(void *comm, void *memory) {
  void *requests[SLOTS];
  uint64_t next = 0, done = 0, rounds = (uint64_t)options.rounds;
  while (done < rounds) {
    if (next < rounds && next - done < SLOTS) {
      void *request = NULL;
      fill_lines(next);
      check(net_isend(&net, comm, slot_of(next), lines_of(next) * (size_t)options.line_bytes, 0, memory, &request),
            "isend");
      if (request != NULL) requests[next++ % SLOTS] = request;
    }
    int is_done = 0;
    if (done < next) check(net_test(&net, requests[done % SLOTS], &is_done, NULL), "test");
    done += (uint64_t)is_done;
    if (is_done)
      progress();
    else
      sched_yield();
  }
}

void run_lines(void) {
  struct link link[HABITS_MOST_RANKS];
  pthread_t poller;
  int sends = options.rank == 0;
  load_plugin();
  net_lines_with(options.plane_failed);
  open_links(link);
  buffers = aligned_memory(SLOTS * options.max_bytes);
  void *comm = sends ? link->send : link->receive;
  void *memory = must_register(comm, buffers, SLOTS * options.max_bytes);
  if (sends) {
    send_all(comm, memory);
  } else {
    if (pthread_create(&poller, NULL, poll_all, NULL) != 0) fail_with(EXIT_BAD_USAGE, "cannot start a thread");
    receive_all(comm, memory);
    pthread_join(poller, NULL);
  }
  barrier();
  if (!sends) check_all_used();
  check(net_deregister(&net, comm, memory), "deregMr");
  close_link(link);
  net_unload(&net);
  if (!sends) check_all_used();
  if (a_plane_failed) printf("# a plane failed\n");
}
