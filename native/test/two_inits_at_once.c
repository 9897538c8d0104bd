/* Several communicators initialise at once, each from its own thread; the JVM must be created once. */
#include "harness.h"

enum { THREADS = 4 };

static const struct nccl_net_v12 *net;
static pthread_barrier_t together;
static void *contexts[THREADS];

static void *initialise(void *argument) {
  int index = (int)(intptr_t)argument;
  pthread_barrier_wait(&together);
  contexts[index] = init_v12(net, (uint64_t)index);
  use_v12(net);
  return NULL;
}

int main(void) {
  net = table_v12(load());
  pthread_barrier_init(&together, NULL, THREADS);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, initialise, (void *)(intptr_t)i) == 0, "no thread");
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    for (int j = 0; j < i; j++) {
      CHECK(contexts[i] != contexts[j], "threads %d and %d share a context", i, j);
    }
  }
  char *banner = strstr(logged, "commit ");
  CHECK(banner != NULL && strstr(banner + 1, "commit ") == NULL, "the banner must appear exactly once");
  /* The threads that attached have ended; the finalize calls come from another thread. */
  for (int i = 0; i < THREADS; i++) {
    int result = net->finalize(contexts[i]);
    CHECK(result == NCCL_SUCCESS, "finalize returned %d", result);
  }
  CHECK(warnings == 0, "%d warnings", warnings);
  printf("ok: %d inits at once\n", THREADS);
  return 0;
}
