/*
 * The threads around a net plugin in NCCL's process, without a GPU. A worker thread does the kernels' work, a progress
 * thread sends and receives slots, and a service thread opens and closes connections. For each end of a connection, the
 * threads share STEPS slots and their counters.
 */
#ifndef HEDDLE_AMONG_H
#define HEDDLE_AMONG_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "net_plugin.h"

#define STEPS 8                        /* NCCL_STEPS */
#define LINES_SLOT_BYTES (64 * 1024)   /* as large as NCCL's LL buffers, half of which are flags */
#define SIMPLE_SLOT_BYTES (512 * 1024) /* a slot of NCCL's Simple buffers of 4 MiB */
#define MOST_RANKS 8
#define MOST_CHANNELS 16
#define MOST_CHILDREN 2
#define OPERATIONS 16 /* maximum number of one end's operations that are posted and unfinished */

/*
 * LINES stands for NCCL's LL: each word has a float and a flag, and the receiving worker polls the flags. SIMPLE stands
 * for NCCL's Simple: the receiving worker polls the counter `tail`, which the progress thread increments.
 */
enum protocol { LINES, SIMPLE, PROTOCOLS };

enum algorithm { RING, TREE };

/* The sending or the receiving end of a connection. */
struct end {
  int peer, sends;
  char name[32]; /* name of the connection, the same at both ends */
  void *comm, *listener;
  unsigned char *buffers[PROTOCOLS];
  void *memory[PROTOCOLS];
  /* Ring of the operations that the worker has posted. The progress thread's lock guards `added` and `visible`. */
  struct {
    uint64_t steps;
    enum protocol protocol;
  } operations[OPERATIONS];
  uint64_t added, visible;
  /* used by the progress thread only */
  uint64_t base, posted, moved, done;
  void *requests[STEPS];
  /* used by the worker only: its next step */
  uint64_t step;
  /*
   * At a sending end, the worker writes tail, and the progress thread writes head. At a receiving end, the worker
   * writes head, and the progress thread writes tail. Stores are releases and loads are acquires.
   */
  _Alignas(64) _Atomic uint64_t head;
  _Alignas(64) _Atomic uint64_t tail;
  _Alignas(64) _Atomic uint64_t finished; /* number of finished operations */
  _Atomic int sizes[STEPS];               /* bytes in a slot, or -1 if the worker has not filled it */
};

struct channel {
  /* the rank's ends in the ring */
  struct end *previous, *next;
  /* the rank's ends in the channel's tree; NULL if there is none */
  struct end *to_parent, *from_parent, *to_children[MOST_CHILDREN], *from_children[MOST_CHILDREN];
};

struct group {
  struct net_plugin *net;
  const char *folder;
  double timeout_seconds;
  int rank, ranks, channel_count, spins, spoil;
  size_t lines_bytes; /* all-reduces of up to this size use LINES */
  enum algorithm algorithm;
  struct channel channels[MOST_CHANNELS];
  struct end *ends[MOST_CHANNELS * 6];
  int end_count;
};

/* Returns the word of protocol LINES that contains a float and the step's flag. */
static inline uint64_t line_word(uint32_t data, uint64_t step) { return (uint64_t)(uint32_t)(step + 1) << 32 | data; }

static inline int has_flag_of(uint64_t word, uint64_t step) { return (uint32_t)(word >> 32) == (uint32_t)(step + 1); }

static inline unsigned char *slot_of(const struct end *end, enum protocol protocol, uint64_t step) {
  return end->buffers[protocol] + step % STEPS * (protocol == LINES ? LINES_SLOT_BYTES : SIMPLE_SLOT_BYTES);
}

/* ---- among_connections.c ---- */

/* Lays out the channels' ends, starts the service thread and waits until it has connected all ends. */
void among_connect(struct group *group);
/* Makes the service thread close all ends and exit. */
void among_close(struct group *group);

/* ---- among_progress.c ---- */

void among_start_progress(struct group *group);
/* Waits until no operation is in flight, and ends the progress thread. */
void among_stop_progress(struct group *group);
/* Adds an operation to an end. Called before among_post for each end that takes part. */
void among_add(struct end *end, uint64_t steps, enum protocol protocol);
void among_post(void);
/*
 * among_sleeps returns how often the progress thread has slept because there was no operation; among_yields returns how
 * often it has yielded its core.
 */
uint64_t among_sleeps(void), among_yields(void);

/* ---- among_thread_times.c ---- */

#define MOST_ACCOUNTS 128

/* A thread's times and context switches since its start. */
struct account {
  int thread;
  char name[32];
  uint64_t ran_ns, waited_ns; /* time on a core, and time ready without a core */
  uint64_t voluntary_switches, involuntary_switches;
};

/* Reads the accounts of all threads of the process. Returns the number of threads. */
int accounts_take(struct account accounts[MOST_ACCOUNTS]);
/*
 * Prints a JSON member "threads": by how much each thread's times and context switches grew from before to after.
 * Threads that did not run are omitted.
 */
void accounts_print(const struct account *before, int before_count, const struct account *after, int after_count);

/* ---- among_worker.c ---- */

/* All-reduces input into output over as many channels as the size needs. Called on the worker's thread. */
void among_all_reduce(struct group *group, const float *input, float *output, size_t floats);

#endif
