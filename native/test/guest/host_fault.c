/*
 * A crash of the host itself looks the same as without the plugin: same status, same standard error, and no Java
 * report.
 *
 * GUEST CASE segv segv -- status=-11
 * GUEST CASE segv_on_a_thread_that_moved_data segv data -- status=-11
 * GUEST CASE segv_on_another_thread segv thread -- status=-11
 * GUEST CASE bus bus -- status=-7
 * GUEST CASE fpe fpe data -- status=-8
 * GUEST CASE ill ill data -- status=-4
 * GUEST CASE abort abort data -- status=-6
 * GUEST CASE raised raise data -- status=-11
 * GUEST CASE killed kill -- status=-11
 * GUEST CASE trap trap data -- status=-5
 * GUEST CASE forked segv fork
 * GUEST CASE forked_from_data segv data fork
 * GUEST CASE cloned segv clone
 * GUEST CASE vforked segv vfork
 * GUEST CASE stack_overflow overflow -- status=-11
 * GUEST CASE stack_overflow_of_a_thread overflow thread data -- status=-11
 */
#include "guest.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static volatile int zero, number = 7;
static volatile int *volatile nowhere = (int *)8;

__attribute__((noinline)) static long overflow(long depth) {
  volatile char page[4000];
  memset((char *)page, (int)depth, sizeof page);
  return (depth < 1L << 40 ? overflow(depth + 1) : 0) + page[17];
}

static void crash(const char *how) {
  if (strcmp(how, "segv") == 0) {
    *nowhere = 1;
  } else if (strcmp(how, "bus") == 0) {
    FILE *empty = tmpfile();
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0);
    printf("%d\n", page[0]);
  } else if (strcmp(how, "fpe") == 0) {
#if defined(__x86_64__)
    printf("%d\n", number / zero);
#else
    raise(SIGFPE); /* processors without a trap for a division by zero */
#endif
  } else if (strcmp(how, "ill") == 0) {
    raise(SIGILL);
  } else if (strcmp(how, "abort") == 0) {
    abort();
  } else if (strcmp(how, "raise") == 0) {
    raise(SIGSEGV);
  } else if (strcmp(how, "kill") == 0) {
    kill(getpid(), SIGSEGV);
    pause();
  } else if (strcmp(how, "trap") == 0) {
    raise(SIGTRAP);
  } else {
    printf("%ld\n", overflow(0));
  }
}

static const char *how;
static bool moves_data;

static void *run(void *none) {
  if (moves_data) {
    struct guest_link link;
    guest_connect(&link, 4096);
    MUST(guest_message(&link, 1) == NCCL_SUCCESS, "no message");
  }
  crash(how);
  return none;
}

static void report(pid_t child) {
  int status = 0;
  MUST(waitpid(child, &status, 0) == child, "no child");
  printf("the child's status is %#x\n", (unsigned)status);
}

int main(int count, char **arguments) {
  how = arguments[1];
  guest_init();
  for (int i = 2; i < count; i++) {
    if (strcmp(arguments[i], "data") == 0) {
      moves_data = true;
    } else if (strcmp(arguments[i], "thread") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, run, NULL);
      pthread_join(thread, NULL);
    } else {
      if (moves_data) {
        struct guest_link link;
        guest_connect(&link, 4096);
        MUST(guest_message(&link, 1) == NCCL_SUCCESS, "no message");
      }
      bool by_vfork = strcmp(arguments[i], "vfork") == 0;
      /* the bare system call runs no handlers of pthread_atfork() */
      bool by_clone = strcmp(arguments[i], "clone") == 0;
      pid_t child = by_vfork ? vfork() : by_clone ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
      if (child == 0) {
        crash(how);
        _exit(0);
      }
      report(child);
      guest_control();
      return 0;
    }
  }
  run(NULL);
  return 0;
}
