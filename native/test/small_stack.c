/*
 * Calls from threads with small stacks, on which Java would end the process. Control-path calls work on any stack,
 * since threads of the plugin run them. A data-path call enters Java on the caller's stack, so the plugin refuses it on
 * a small stack.
 */
#include "harness.h"

#include <limits.h>

static const struct nccl_net_v12 *net;

struct answer {
  int result; /* result of irecv with a nonexistent communicator */
  int devices_result;
  int count;
};

static void *ask(void *argument) {
  static char line[64]; /* a communicator with the number 0, which Java never assigns */
  struct answer *answer = argument;
  answer->count = -1;
  answer->devices_result = net->devices(&answer->count);
  void *data = line;
  size_t size = sizeof line;
  int tag = 0;
  void *handle = NULL;
  void *request = NULL;
  answer->result = net->irecv(line, 1, &data, &size, &tag, &handle, NULL, &request);
  return NULL;
}

static struct answer ask_with_stack(size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK(pthread_attr_setstacksize(&attributes, bytes) == 0, "stack size %zu", bytes);
  pthread_t thread;
  struct answer answer;
  CHECK(pthread_create(&thread, &attributes, ask, &answer) == 0, "no thread");
  pthread_join(thread, NULL);
  return answer;
}

int main(void) {
  net = table_v12(load());
  void *context = init_v12(net, 1);
  size_t smallest = (size_t)PTHREAD_STACK_MIN;
  size_t refused[] = {smallest, 32 << 10, 64 << 10, 96 << 10, 128 << 10};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (refused[i] >= smallest) {
      int before = warnings;
      struct answer answer = ask_with_stack(refused[i]);
      CHECK(answer.devices_result == NCCL_SUCCESS && answer.count > 0, "%zu KiB: devices returned %d", refused[i] >> 10,
            answer.devices_result);
      CHECK(answer.result == NCCL_SYSTEM_ERROR, "%zu KiB: returned %d", refused[i] >> 10, answer.result);
      CHECK(warnings == before + 1, "%zu KiB: %d warnings", refused[i] >> 10, warnings - before);
    }
  }
  size_t served[] = {256 << 10, 1 << 20};
  for (size_t i = 0; i < sizeof served / sizeof served[0]; i++) {
    struct answer answer = ask_with_stack(served[i]);
    CHECK(answer.result == NCCL_INVALID_ARGUMENT, "%zu KiB: returned %d", served[i] >> 10, answer.result);
  }
  use_v12(net);
  CHECK(net->finalize(context) == NCCL_SUCCESS, "finalize failed");
  printf("ok: control calls served on all stacks, data calls refused on small ones\n");
  return 0;
}
