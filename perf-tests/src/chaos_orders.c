#include "chaos_orders.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "chaos_clock.h"
#include "report.h"

/* Orders from standard input that the main thread hasn't begun yet. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int run, close, ended;
  struct chaos_order order;
} asked = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Parses a line of standard input. Returns whether it is a valid order. */
static int parse_order(const char *line) {
  struct chaos_order order;
  long clock;
  if (sscanf(line, "run %llu %ld %ld %4095[^\n]", &order.seed, &order.milliseconds, &order.max_bytes, order.folder) ==
      4) {
    asked.order = order;
    asked.run = 1;
    return order.milliseconds > 0 && order.max_bytes >= 64;
  }
  if (sscanf(line, "clock %ld", &clock) == 1) {
    chaos_step_clock(clock);
    return 1;
  }
  asked.close |= strcmp(line, "close\n") == 0;
  return asked.close;
}

static void *listen_to_input(void *unused) {
  char line[CHAOS_FOLDER_BYTES + 128];
  (void)unused;
  while (fgets(line, sizeof line, stdin) != NULL) {
    pthread_mutex_lock(&asked.lock);
    if (!parse_order(line)) fail_with(EXIT_BAD_USAGE, "standard input: not understood: %s", line);
    pthread_cond_broadcast(&asked.changed);
    pthread_mutex_unlock(&asked.lock);
  }
  pthread_mutex_lock(&asked.lock);
  asked.ended = 1;
  pthread_cond_broadcast(&asked.changed);
  pthread_mutex_unlock(&asked.lock);
  return NULL;
}

void chaos_read_orders(void) {
  pthread_t input;
  if (pthread_create(&input, NULL, listen_to_input, NULL) != 0) fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  pthread_detach(input);
}

/*
 * Waits until an order from standard input has set this flag, then clears the flag. Returns 0 if standard input has
 * ended.
 */
static int await(int *flag) {
  pause_watch(1);
  pthread_mutex_lock(&asked.lock);
  while (!*flag && !asked.ended) pthread_cond_wait(&asked.changed, &asked.lock);
  int there = *flag;
  *flag = 0;
  pthread_mutex_unlock(&asked.lock);
  pause_watch(0);
  return there;
}

const struct chaos_order *chaos_next_run(void) {
  static struct chaos_order order;
  if (!await(&asked.run)) return NULL;
  pthread_mutex_lock(&asked.lock);
  order = asked.order;
  pthread_mutex_unlock(&asked.lock);
  return &order;
}

int chaos_may_close(void) { return await(&asked.close); }

void chaos_print_side(const char *name, const struct chaos_side *side) {
  printf(",\"%s\":{\"complete\":%s,\"failed\":\"%s\",\"result\":%d,\"failed_at_s\":%.6f}", name,
         side->complete ? "true" : "false", side->failed == NULL ? "" : side->failed, side->result, side->failed_at);
}
