/*
 * What the cases of heddle-habits share: the ranks' run, links between each two of them, messages whose bytes follow from
 * the seed. Whatever is not as it must be ends the process and names the seed.
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
  /* of lines */
  int line_bytes, early, spoil_data, spoil_late;
  const char *plane_failed; /* words of the plugin's warning that a plane failed */
  /* of cycles */
  int growth_kib;
};

extern struct habits_options options;
extern struct net_plugin net;

#define WANT(condition, format, ...) \
  do { \
    if (!(condition)) \
      fail_with(EXIT_WRONG_DATA, "rank %d, seed %zu: " format, options.rank, options.seed, ##__VA_ARGS__); \
  } while (0)

/* One direction of traffic each way with a peer. The listener is the one that `receive` came through. */
struct link {
  int peer;
  void *listen, *send, *receive;
};

/* The plugin's init and the end of it; a case may do both again and again. */
void load_plugin(void);

/* Waits until all ranks have come here too. */
void meet(void);

/* Opens a link to each other rank; every rank calls it as often, at the same time. Returns how many there are. */
int open_links(struct link *links);

/* The plugin's own order: both communicators, then the listener. */
void close_link(struct link *link);

/* A well mixed number of these two. */
uint64_t mixed(uint64_t a, uint64_t b);

/* Size of a message: a fifth have none, most are small. */
size_t message_size(uint64_t stream, uint64_t message);
void fill_message(unsigned char *data, size_t size, uint64_t stream, uint64_t message);
void check_message(const unsigned char *data, size_t size, uint64_t stream, uint64_t message);

/* Numbers the messages from one rank to another, of one of several groups. */
uint64_t stream_of(int from, int to, int group);

/* Sends and receives that many messages over each link at once, as the progress thread of a communicator does. */
void exchange(struct link *links, int count, int group, int messages);

/* Memory in lines of 128 bytes; ends the process where there is none. */
void *aligned_memory(size_t bytes);

void *must_register(void *comm, void *data, size_t size);

void run_lines(void);
void run_aborts(void);
void run_cycles(void);
void run_groups(void);

#endif
