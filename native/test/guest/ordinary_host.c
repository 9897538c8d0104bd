/*
 * An ordinary host that moves data and has children, under usual launchers and environments.
 *
 * GUEST CASE plain
 * GUEST CASE jemalloc -- env.LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2 \
 *     needs=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2
 * GUEST CASE tcmalloc -- env.LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4 \
 *     needs=/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4
 * GUEST CASE strace -- under="strace -f -o /dev/null" seconds=120
 * GUEST CASE gdb -- under="gdb -batch -nx -ex 'handle SIGSEGV nostop noprint pass' -ex run --args" differs=stdout,stderr status=0
 * GUEST CASE no_user -- under="setpriv --reuid=54321 --regid=54321 --clear-groups" needs=root
 * GUEST CASE few_privileges -- under="setpriv --bounding-set=-all --inh-caps=-all --no-new-privs" needs=root
 * GUEST CASE no_proc -- under="unshare -m sh -c 'umount -l /proc && exec \"$@\"' sh" \
 *     needs=root with.GUEST_MAY_REFUSE=1 log="make /proc/self/maps readable"
 * GUEST CASE idle_priority -- under="nice -n 19"
 * GUEST CASE unlimited_stack -- stack=unlimited
 * GUEST CASE small_stack -- stack=512
 */
#include "guest.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static void expect(pid_t child, int expected, const char *what) {
  int status = -1;
  MUST(child > 0 && waitpid(child, &status, 0) == child, "%s: no child", what);
  MUST(WIFEXITED(status) && WEXITSTATUS(status) == expected, "%s: status %#x", what, (unsigned)status);
  printf("%s: %d\n", what, expected);
}

static void *move_data(void *link) {
  guest_connect(link, 1 << 16);
  for (int i = 0; i < 20; i++) MUST(guest_message(link, i) == NCCL_SUCCESS, "no message");
  return NULL;
}

int main(void) {
  guest_init();
  struct guest_link link;
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, move_data, &link) == 0, "no thread");
  pthread_join(thread, NULL);

  setvbuf(stdout, NULL, _IONBF, 0);
  pid_t child = fork();
  if (child == 0) _exit(3);
  expect(child, 3, "fork");
  child = fork();
  if (child == 0) exit(4); /* through the exit handlers */
  expect(child, 4, "fork and exit");
  child = vfork();
  if (child == 0) _exit(5);
  expect(child, 5, "vfork");
  char *const arguments[] = {"sh", "-c", "exit 6", NULL};
  MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0, "no posix_spawn");
  expect(child, 6, "posix_spawn");
  printf("system: %d\n", WEXITSTATUS(system("exit 7")));

  guest_control();

  printf("done\n");
  return 0;
}
