/* A kind of transfer that heddle-one-sided-perf measures: puts with signals, or the net interface's messages. */
#ifndef HEDDLE_TRANSFER_H
#define HEDDLE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRANSFER_MOST_RANKS = 64, TRANSFER_MOST_DEPTH = 64 };

struct transfer_options {
  const char *plugin, *folder, *table, *log_prefix;
  int rank, ranks;
  int depth; /* maximum number of messages in flight to one rank; each has its own piece of memory */
  size_t bytes;
  double timeout_seconds;
};

/*
 * A failed plugin call ends the process. The caller numbers the messages to each rank from 0, and has at most `depth`
 * of them in flight.
 */
struct transfer {
  const char *name;
  void (*open)(const struct transfer_options *);
  /* Sets the total number of messages that will arrive from rank `from`. */
  void (*set_expected)(int from, uint64_t count);
  /*
   * Sends a message. Returns NULL if it can't be started yet. An ordered message arrives after all messages before it.
   */
  void *(*send)(int to, uint64_t number, bool ordered);
  bool (*is_sent)(void *request);
  /* Makes progress. Returns the number of messages that have arrived from rank `from`. */
  uint64_t (*arrived)(int from);
  void (*close)(void);
};

extern const struct transfer transfer_by_puts, transfer_by_messages;

/* Returns the offset of the piece of memory for a message to or from a rank. */
static inline size_t transfer_piece(const struct transfer_options *options, int rank, uint64_t number) {
  return ((size_t)rank * (size_t)options->depth + number % (uint64_t)options->depth) * options->bytes;
}

/* Allocates memory for all pieces and touches its pages. */
unsigned char *transfer_memory(const struct transfer_options *, size_t *bytes);

#endif
