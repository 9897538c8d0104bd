/* Orders on standard input, one per line, and output lines that heddle-chaos and heddle-one-sided-chaos share. */
#ifndef HEDDLE_CHAOS_ORDERS_H
#define HEDDLE_CHAOS_ORDERS_H

enum { CHAOS_FOLDER_BYTES = 4096 };

struct chaos_order {
  char folder[CHAOS_FOLDER_BYTES]; /* rendezvous folder; empty before the run */
  unsigned long long seed;
  long milliseconds, max_bytes;
};

/* Outcome of one direction, or of one kind of call. */
struct chaos_side {
  int complete;       /* whether all messages or calls were completed */
  const char *failed; /* the call that failed, or NULL */
  int result;         /* result of the failed call */
  double failed_at;   /* monotonic time of the failure, in seconds */
};

/* Begins to read standard input, on a separate thread. */
void chaos_read_orders(void);

/* Waits for the next run. Returns NULL at the end of input. The result is valid until the next call. */
const struct chaos_order *chaos_next_run(void);

/* Waits for the order `close`, which ends the run. Returns 0 at the end of input. */
int chaos_may_close(void);

/* Writes the JSON member ,"name":{...} to standard output. */
void chaos_print_side(const char *name, const struct chaos_side *);

#endif
