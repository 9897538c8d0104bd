/* A way between ranks that heddle-one-sided-perf measures: puts with signals, or the net interface's messages. */
#ifndef HEDDLE_WAY_H
#define HEDDLE_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAY_MOST_RANKS = 64, WAY_MOST_DEPTH = 64 };

struct way_options {
  const char *plugin, *folder, *table, *log_prefix;
  int rank, ranks;
  int depth; /* messages to one rank under way, each with a piece of memory of its own */
  size_t bytes;
  double timeout_seconds;
};

/*
 * All calls end the process where one of the plugin's fails. Messages to a rank are numbered from 0 by the caller, who has
 * no more than `depth` of them under way.
 */
struct way {
  const char *name;
  void (*open)(const struct way_options *);
  /* So many messages in all will have come from that rank when it is through. */
  void (*expect)(int from, uint64_t count);
  /* NULL where it can't be started yet. An ordered one comes after all before it. */
  void *(*send)(int to, uint64_t number, bool ordered);
  bool (*is_sent)(void *request);
  /* Moves things on, and returns how many messages have come from that rank. */
  uint64_t (*come)(int from);
  void (*close)(void);
};

extern const struct way way_of_puts, way_of_messages;

/* A piece of memory for each message that may be under way with each rank. */
static inline size_t way_piece(const struct way_options *options, int rank, uint64_t number) {
  return ((size_t)rank * (size_t)options->depth + number % (uint64_t)options->depth) * options->bytes;
}

/* Touched memory for all pieces. */
unsigned char *way_memory(const struct way_options *, size_t *bytes);

#endif
