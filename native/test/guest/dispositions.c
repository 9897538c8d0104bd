/*
 * What signals do to the host stays as it was, but for the four faults that Java makes on purpose, and
 * SIGRTMAX-2 where the host has no handler of its own.
 *
 * GUEST CASE defaults
 * GUEST CASE handlers handlers
 * GUEST CASE ignored ignored
 * GUEST CASE pipe pipe -- status=-13
 * GUEST CASE file_size file_size -- status=-25
 * GUEST CASE second_user_signal usr2 -- status=-12
 * GUEST CASE terminate term -- status=-15
 * GUEST CASE hang_up hup -- status=-1
 * GUEST CASE quit quit -- status=-3
 */
#include "guest.h"

#include <sys/resource.h>

static volatile int seen[65];

static void handler(int number) { seen[number]++; }

int main(int count, char **arguments) {
  const char *how = count > 1 ? arguments[1] : "";
  for (int number = 1; number <= SIGRTMAX; number++) {
    bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
    if (strcmp(how, "handlers") == 0 && !is_fault) signal(number, handler);
    if (strcmp(how, "ignored") == 0 && !is_fault) signal(number, SIG_IGN);
  }
  guest_print_signals("before");
  guest_init();
  struct guest_link link;
  guest_connect(&link, 65536);
  MUST(guest_message(&link, 1) == NCCL_SUCCESS, "no message");
  guest_print_signals("after");
  if (strcmp(how, "handlers") == 0) {
    for (int number = 1; number <= SIGRTMAX; number++) {
      struct sigaction action;
      if (sigaction(number, NULL, &action) == 0 && action.sa_handler == handler) {
        raise(number);
        printf("%d: %d\n", number, seen[number]);
      }
    }
  }
  if (strcmp(how, "pipe") == 0) {
    int ends[2];
    MUST(pipe(ends) == 0, "no pipe");
    close(ends[0]);
    MUST(write(ends[1], "x", 1) == 1, "lives");
  } else if (strcmp(how, "file_size") == 0) {
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 4096, .rlim_max = RLIM_INFINITY});
    FILE *file = tmpfile();
    MUST(ftruncate(fileno(file), 8192) == 0, "lives");
  } else if (how[0] != '\0' && strcmp(how, "handlers") != 0 && strcmp(how, "ignored") != 0) {
    raise(strcmp(how, "usr2") == 0   ? SIGUSR2
          : strcmp(how, "term") == 0 ? SIGTERM
          : strcmp(how, "hup") == 0  ? SIGHUP
                                     : SIGQUIT);
  }
  return 0;
}
