/*
 * A fault in Java's own code ends the process. Java's report is in the statistics folder, and a log line names it.
 *
 * GUEST CASE own_thread heddle-soft0 -- differs=status,stderr with_status=-6 report=1 log="signal 11 in the JVM's or Heddle's code"
 * GUEST CASE control_thread heddle-call -- differs=status,stderr with_status=-6 report=1 log="signal 11 in the JVM's or Heddle's code"
 */
#include "guest.h"

#include <dirent.h>
#include <sys/syscall.h>

/* Returns 0 if there is no thread of this name. */
static pid_t thread_named(const char *name) {
  DIR *tasks = opendir("/proc/self/task");
  pid_t found = 0;
  for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
    char path[300], words[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(words, sizeof words, file) != NULL && strncmp(words, name, strlen(name)) == 0) {
      found = (pid_t)atoi(task->d_name);
    }
    if (file != NULL) fclose(file);
  }
  closedir(tasks);
  return found;
}

int main(int count, char **arguments) {
  MUST(count == 2, "one argument");
  guest_init();
  if (guest_net != NULL) {

    pid_t thread = thread_named(arguments[1]);
    MUST(thread != 0, "no thread %s", arguments[1]);
    freopen("/dev/null", "w", stdout); /* Java prints a message about the fault on standard output too */
    syscall(SYS_tgkill, getpid(), thread, SIGSEGV);
    sleep(20);
    _exit(99);
  }
  return 0;
}
