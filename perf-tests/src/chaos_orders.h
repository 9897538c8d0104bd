/* What the soak's ranks are told on standard input, one line an order, and what both kinds of ranks answer alike. */
#ifndef HEDDLE_CHAOS_ORDERS_H
#define HEDDLE_CHAOS_ORDERS_H

enum { CHAOS_FOLDER_BYTES = 4096 };

struct chaos_order {
  char folder[CHAOS_FOLDER_BYTES]; /* empty before the run */
  unsigned long long seed;
  long milliseconds, max_bytes;
};

/* One direction, or one kind of call. */
struct chaos_side {
  int complete;       /* it went on to its end */
  const char *failed; /* the call that failed, or NULL */
  int result;         /* of that call */
  double failed_at;   /* monotonic */
};

/* Begins to read standard input, on a thread of its own. */
void chaos_hear_orders(void);

/* Waits for the next run; NULL where no order comes any more. It is the caller's until the next call. */
const struct chaos_order *chaos_next_run(void);

/* Waits until the run may end; 0 where no order comes any more. */
int chaos_may_close(void);

/* Writes ,"name":{...} to standard output. */
void chaos_tell_side(const char *name, const struct chaos_side *);

#endif
