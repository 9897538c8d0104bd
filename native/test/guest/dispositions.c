/*
 * Signal dispositions stay the host's, except for the four fault signals that Java needs, and SIGRTMAX-2 if the host
 * has no handler of its own.
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

#include <dirent.h>
#include <sys/resource.h>

static volatile int seen[65];

static void handler(int number) { seen[number]++; }

/*
 * Checks that the plugin's threads block all signals that the host's threads may wait for. The plugin's threads also
 * block SIGPIPE and SIGXFSZ, which a write to a closed connection, or to a file at its size limit, raises on the
 * writing thread.
 */
static void check_other_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
    char path[300], line[256], name[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE *file = task->d_name[0] == '.' || atoi(task->d_name) == getpid() ? NULL : fopen(path, "re");
    bool ends = false; /* whether the thread has just ended: the kernel then reports neither threads nor signals */
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
      sscanf(line, "Name: %63[^\n]", name);
      ends = ends || strcmp(line, "Threads:\t0\n") == 0;
      if (!ends && strncmp(line, "SigBlk:", 7) == 0) {
        unsigned long open_to = ~strtoul(line + 7, NULL, 16) & ~(GUEST_FAULTS | GUEST_WAKE | GUEST_GLIBC);
        open_to &= ~(1UL << (SIGKILL - 1) | 1UL << (SIGSTOP - 1) | 1UL << (SIGTRAP - 1) | 1UL << (SIGUSR2 - 1));
        MUST(open_to == 0, "thread %s takes signals %016lx", name, open_to);
      }
    }
    if (file != NULL) fclose(file);
  }
  closedir(tasks);
}

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
  check_other_threads();
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
