/*
 * Many threads in calls of the control path at once, on small stacks, and what a call's hand-over takes.
 *
 * GUEST CASE at_once 16
 */
#include "guest.h"

static void *run(void *none) {
  for (int i = 0; i < 50; i++) guest_control();
  return none;
}

int main(int count, char **arguments) {
  MUST(count == 2, "one argument");
  int threads = atoi(arguments[1]);
  guest_init();
  pthread_t thread[64];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (int i = 0; i < threads; i++) {
    MUST(pthread_create(&thread[i], &attributes, run, NULL) == 0, "no thread");
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
  }
  if (guest_net != NULL) {
    struct timespec from, to;
    int devices, calls = 5000;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < calls; i++) {
      MUST(guest_net->devices(&devices) == NCCL_SUCCESS, "devices failed");
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    printf("# a call takes %.1f us\n", ns / calls / 1000);
    MUST(guest_net->finalize(guest_context) == NCCL_SUCCESS, "finalize failed");
  }
  return 0;
}
