/*
 * Declarations that the cases of heddle-habits share: options, links between every two ranks, and messages whose bytes
 * are computed from the seed. Any failed check ends the process and names the seed.
 */
#ifndef HEDDLE_HABITS_H
#define HEDDLE_HABITS_H

#include <stddef.h>
#include <stdint.h>

#include "net_plugin.h"
#include "report.h"

enum { HABITS_MOST_RANKS = 8 };

struct habits_options {
  const char *plugin, *folder, *prefix;
  int rank, ranks, abi, rounds, log;
  size_t seed, max_bytes;
  double timeout_seconds;
  /* options of case `lines` */
  int line_bytes, early, spoil_data, spoil_late;
  const char *plane_failed; /* text of the plugin's warning about a failed plane */
  /* options of case `cycles` */
  int growth_kib;
};

extern struct habits_options options;
extern struct net_plugin net;

#define WANT(condition, format, ...) \
  do { \
    if (!(condition)) \
      fail_with(EXIT_WRONG_DATA, "rank %d, seed %zu: " format, options.rank, options.seed, ##__VA_ARGS__); \
  } while (0)

/* Communicators of both directions with a peer. `receive` was accepted by the listener. */
struct link {
  int peer;
  void *listen, *send, *receive;
};

/* Loads and initialises the plugin. A case can call this again after net_unload(), which finalizes the plugin. */
void load_plugin(void);

/* Waits until all ranks have called this too. */
void barrier(void);

/* Opens a link to each other rank and returns the number of links. All ranks must call this at the same time. */
int open_links(struct link *links);

/* Closes both communicators, then the listener. */
void close_link(struct link *link);

/* Returns a hash of two numbers. */
uint64_t mixed(uint64_t a, uint64_t b);

/* Returns the size of a message. A fifth of the messages are empty, and most are small. */
size_t message_size(uint64_t stream, uint64_t message);
void fill_message(unsigned char *data, size_t size, uint64_t stream, uint64_t message);
void check_message(const unsigned char *data, size_t size, uint64_t stream, uint64_t message);

/* Returns the number of the stream of messages from one rank to another within a group. */
uint64_t stream_of(int from, int to, int group);

/*
 * Sends and receives `messages` messages over each link, all links in parallel, as the progress thread of a
 * communicator does.
 */
void exchange(struct link *links, int count, int group, int messages);

/* Allocates memory in lines of 128 bytes. Ends the process if this fails. */
void *aligned_memory(size_t bytes);

void *must_register(void *comm, void *data, size_t size);

void run_lines(void);
void run_aborts(void);
void run_cycles(void);
void run_groups(void);

#endif
