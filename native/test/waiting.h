/* Waiting with a time limit, and the time that the host's tasks wait for a processor. */
#ifndef HEDDLE_TEST_WAITING_H
#define HEDDLE_TEST_WAITING_H

#include "harness.h"

#include <sched.h>
#include <stdatomic.h>

enum { PATIENCE_S = 120 };

static long deadline;

/*
 * Returns how long tasks of this host have waited for a processor so far, by the kernel ("some" in
 * Documentation/accounting/psi.rst). Returns 0 if the kernel doesn't count this.
 */
static long stalled_us(void) {
  long total = 0;
  FILE *pressure = fopen("/proc/pressure/cpu", "re");
  if (pressure != NULL) {
    if (fscanf(pressure, "some avg10=%*f avg60=%*f avg300=%*f total=%ld", &total) != 1) total = 0;
    fclose(pressure);
  }
  return total;
}

static void start_waiting(void) { deadline = now_us() + PATIENCE_S * 1000000L; }

static void keep_waiting(const char *what) {
  CHECK(now_us() < deadline, "%s took more than %d s", what, PATIENCE_S);
  sched_yield();
}

static void wait_for(atomic_int *number, int value, const char *what) {
  start_waiting();
  while (atomic_load(number) < value) {
    keep_waiting(what);
    usleep(200);
  }
}

#endif
