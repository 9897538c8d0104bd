/* NCCL closes the library after the last communicator, and opens it again for the next one. */
#include "harness.h"

int main(void) {
  void *first = NULL;
  for (int round = 0; round < 3; round++) {
    long before = now_us();
    void *library = load();
    const struct nccl_net_v12 *net = table_v12(library);
    void *context = init_v12(net, 42 + (uint64_t)round);
    printf("ok: round %d: init took %ld ms, resident %ld MiB\n", round, (now_us() - before) / 1000,
           status_kib("VmRSS") / 1024);
    CHECK(first == NULL || context != first, "a context was returned twice");
    first = context;
    use_v12(net);
    int result = net->finalize(context);
    CHECK(result == NCCL_SUCCESS, "finalize returned %d", result);
    result = net->finalize(context);
    CHECK(result == NCCL_INVALID_ARGUMENT, "a second finalize of one context returned %d", result);
    CHECK(dlclose(library) == 0, "dlclose: %s", dlerror());
  }
  CHECK(strstr(logged, "commit ") != NULL, "no banner line");
  return 0;
}
