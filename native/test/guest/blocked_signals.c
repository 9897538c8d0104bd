/*
 * A thread blocks all signals while Java stops its threads a thousand times a second. The thread blocks them once,
 * after its first call that moves data, or around every message.
 *
 * GUEST CASE once once -- \
 *     with.HEDDLE_JVM_OPTIONS="-XX:+UnlockDiagnosticVMOptions -XX:+SafepointALot -XX:GuaranteedSafepointInterval=1"
 * GUEST CASE each_message each -- \
 *     with.HEDDLE_JVM_OPTIONS="-XX:+UnlockDiagnosticVMOptions -XX:+SafepointALot -XX:GuaranteedSafepointInterval=1"
 */
#include "guest.h"

static bool each;

static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void *run(void *none) {
  struct guest_link link;
  guest_connect(&link, 1 << 16);
  MUST(guest_message(&link, 1) == NCCL_SUCCESS, "no message");
  block_all();
  struct timespec end, now;
  clock_gettime(CLOCK_MONOTONIC, &end);
  for (int i = 0; i < 100000; i++) {
    MUST(guest_message(&link, i) == NCCL_SUCCESS, "no message");
    if (each) block_all();
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - end.tv_sec >= 2) break;
  }
  return none;
}

int main(int count, char **arguments) {
  each = count == 2 && strcmp(arguments[1], "each") == 0;
  guest_init();
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  printf("lives\n");
  return 0;
}
