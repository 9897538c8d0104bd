/* The thread that first calls init may be unusable for Java, so Java starts on one of the plugin's own threads. */
#include "harness.h"

static const struct nccl_net_v12 *net;

static void *initialise(void *argument) {
  struct nccl_config config = {.traffic_class = -1};
  void *context = NULL;
  *(int *)argument = net->init(&context, 1, &config, logger, NULL);
  return NULL;
}

int main(void) {
  net = table_v12(load());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_t thread;
  int result = -1;
  CHECK(pthread_create(&thread, &attributes, initialise, &result) == 0, "no thread");
  pthread_join(thread, NULL);
  CHECK(result == NCCL_SUCCESS, "init on 64 KiB returned %d", result);
  void *context = init_v12(net, 2);
  use_v12(net);
  CHECK(net->finalize(context) == NCCL_SUCCESS, "finalize failed");
  printf("ok: initialised on 64 KiB, and again on the main thread\n");
  return 0;
}
