#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_ullong moved;
static atomic_int watch_paused;

double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void fail_with(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  /*
   * Flushes only these streams. exit() would flush all and wait for ever for the lock of standard input, which a
   * reading thread holds.
   */
  fflush(stdout);
  fflush(stderr);
  _exit(code);
}

void check(int result, const char *call) {
  if (result != 0) fail_with(EXIT_PLUGIN_ERROR, "%s returned ncclResult_t %d", call, result);
}

int64_t whole_number(const char *option, const char *text, int64_t least, int64_t most) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
    fail_with(EXIT_BAD_USAGE, "%s %s: a whole number from %lld to %lld is needed", option, text, (long long)least,
              (long long)most);
  }
  return value;
}

static double hang_seconds;

static void *watch(void *unused) {
  (void)unused;
  unsigned long long before = atomic_load(&moved);
  double since = now_seconds();
  for (;;) {
    struct timespec pause = {.tv_nsec = 200000000};
    nanosleep(&pause, NULL);
    unsigned long long now = atomic_load(&moved);
    if (now != before || atomic_load(&watch_paused)) {
      before = now;
      since = now_seconds();
    } else if (now_seconds() - since > hang_seconds) {
      fail_with(EXIT_TIMED_OUT, "nothing moved for %.0f s", hang_seconds);
    }
  }
  return NULL;
}

void watch_for_hang(double timeout_seconds) {
  pthread_t thread;
  hang_seconds = timeout_seconds;
  if (pthread_create(&thread, NULL, watch, NULL) != 0) fail_with(EXIT_BAD_USAGE, "cannot start a thread");
  pthread_detach(thread);
}

void pause_watch(int paused) { atomic_store(&watch_paused, paused); }

void progress(void) { atomic_fetch_add_explicit(&moved, 1, memory_order_relaxed); }
