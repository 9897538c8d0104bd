/*
 * Many threads make control-path calls at once, on small stacks. The program also measures how long such a call takes.
 *
 * GUEST CASE at_once 16
 * GUEST CASE no_threads_left 8 limit -- under="setpriv --reuid=54322 --regid=54322 --clear-groups" needs=root
 */
#include "guest.h"

#include <sys/resource.h>

static pthread_barrier_t begin;

static void *run(void *none) {
  pthread_barrier_wait(&begin);
  for (int i = 0; i < 50; i++) guest_control();
  return none;
}

int main(int count, char **arguments) {
  MUST(count >= 2, "one argument");
  int threads = atoi(arguments[1]);
  guest_init();
  pthread_barrier_init(&begin, NULL, (unsigned)threads + 1);
  pthread_t thread[64];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (int i = 0; i < threads; i++) {
    MUST(pthread_create(&thread[i], &attributes, run, NULL) == 0, "no thread");
  }
  if (count > 2) {
    /* From here on no thread can be created, so calls wait for the existing thread. */
    MUST(setrlimit(RLIMIT_NPROC, &(struct rlimit){.rlim_cur = 1, .rlim_max = 1}) == 0, "no limit");
    pthread_t more;
    MUST(pthread_create(&more, NULL, run, NULL) != 0, "there are threads");
  }
  pthread_barrier_wait(&begin);
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
