#include "chaos_clock.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

static atomic_long offset_seconds;
static int (*real_clock)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find_clock(void) {
  real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

void chaos_step_clock(long seconds) { atomic_store(&offset_seconds, seconds); }

/* These functions replace those of the C library in the whole process, because the loader finds them first. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time) {
  if (real_clock == NULL) find_clock();
  int result = real_clock(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += atomic_load_explicit(&offset_seconds, memory_order_relaxed);
  }
  return result;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *where) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (where != NULL) *where = now.tv_sec;
  return now.tv_sec;
}
