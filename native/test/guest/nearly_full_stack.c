/*
 * A thread that attached with a large stack makes a call with little stack left. The plugin refuses this call with a
 * warning; the calls before and after it work.
 *
 * GUEST CASE thread 2048 -- log="too deep in this thread's stack"
 * GUEST CASE first_thread 0 -- log="too deep in this thread's stack"
 */
#include "guest.h"

static struct guest_link link_here;
static size_t stack_bytes;

static void call_with(size_t left) {
  void *data = link_here.to;
  size_t size = link_here.bytes;
  int tag = 7;
  void *request = NULL;
  int results[4] = {0};
  if (guest_net != NULL) {
    results[0] = guest_net->isend(link_here.send, link_here.from, size, tag, link_here.send_memory, NULL, &request);
    results[1] = guest_net->irecv(link_here.receive, 1, &data, &size, &tag, &link_here.receive_memory, NULL, &request);
    int flushed = (int)size;
    results[2] = guest_net->iflush(link_here.receive, 1, &data, &flushed, &link_here.receive_memory, &request);
    /* The control path works nevertheless. */
    int count = 0;
    MUST(guest_net->devices(&count) == NCCL_SUCCESS && count > 0, "devices failed with %zu KiB left", left >> 10);
  }
  for (int i = 0; i < 3; i++) {
    bool refused = guest_net == NULL || results[i] == NCCL_SYSTEM_ERROR;
    MUST(refused, "call %d with %zu KiB left returned %d", i, left >> 10, results[i]);
  }
  printf("%zu KiB left: refused\n", left >> 10);
}

__attribute__((noinline)) static int descend(uintptr_t lowest, size_t left) {
  volatile char page[1024];
  memset((char *)page, 1, sizeof page);
  if ((uintptr_t)page - lowest > left + 2048) {
    return descend(lowest, left) + page[17];
  }
  call_with(left);
  return page[17];
}

/* Sends messages with this much stack left. Java assumes 512 KiB for the first thread's stack. */
__attribute__((noinline)) static int message_from(uintptr_t lowest, size_t left) {
  volatile char page[1024];
  memset((char *)page, 1, sizeof page);
  if ((uintptr_t)page - lowest > left + 2048) {
    return message_from(lowest, left) + page[17];
  }
  for (int i = 0; i < 1000; i++) {
    MUST(guest_message(&link_here, i) == NCCL_SUCCESS, "no message from 300 KiB deep");
  }
  return page[17];
}

static void *run(void *none) {
  pthread_attr_t attributes;
  void *lowest;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &stack_bytes);
  guest_connect(&link_here, 4096);
  MUST(guest_message(&link_here, 1) == NCCL_SUCCESS, "no message");
  for (int round = 0; round < 2; round++) {
    static const size_t LEFT[] = {100, 60, 24, 16};
    for (size_t i = 0; i < sizeof LEFT / sizeof LEFT[0]; i++) {
      descend((uintptr_t)lowest, LEFT[i] << 10);
    }
    MUST(guest_message(&link_here, 2 + round) == NCCL_SUCCESS, "no message afterwards");
  }
  message_from((uintptr_t)lowest, stack_bytes - (300 << 10));
  return none;
}

int main(int count, char **arguments) {
  MUST(count == 2, "one argument");
  guest_init();
  size_t kib = (size_t)atol(arguments[1]);
  if (kib == 0) {
    run(NULL);
    return 0;
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kib << 10);
  pthread_t thread;
  pthread_create(&thread, &attributes, run, NULL);
  pthread_join(thread, NULL);
  return 0;
}
