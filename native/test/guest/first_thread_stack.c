/*
 * The host's first thread uses its whole stack, after init or after it has moved data itself.
 *
 * GUEST CASE after_init 7 -- stack=8192
 * GUEST CASE after_a_message 7 message -- stack=8192
 * GUEST CASE large 60 -- stack=65536
 * GUEST CASE unlimited 100 message -- stack=unlimited
 */
#include "guest.h"

__attribute__((noinline)) static long use_stack(long bytes) {
  volatile char page[4000];
  memset((char *)page, 1, sizeof page);
  long rest = bytes > 4096 ? use_stack(bytes - 4096) : 0;
  return rest + page[17];
}

int main(int count, char **arguments) {
  guest_init();
  struct guest_link link;
  if (count > 2) {
    guest_connect(&link, 4096);
    MUST(guest_message(&link, 1) == NCCL_SUCCESS, "no message");
  }
  printf("used: %ld pages\n", use_stack(atol(arguments[1]) << 20));
  guest_control();
  if (count > 2) {
    MUST(guest_message(&link, 2) == NCCL_SUCCESS, "no message afterwards");
  }
  return 0;
}
