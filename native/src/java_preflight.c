/*
 * Java ends the process where the kernel refuses what it can't do without. So each of these is asked for once before Java is,
 * exactly as Java does it. A filter that kills instead of refusing can't be asked: it ends the process here as it would there.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shim.h"

/* linux/prctl.h since Linux 6.3 */
#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* ---- memory that becomes executable ---- */

/* The machine's first look at a page: written, then executed. What refused, or NULL. */
static const char *marks_executable(size_t bytes) {
  void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return NULL; /* no room is told by start_limits.c */
  }
  int refused = mprotect(page, bytes, PROT_READ | PROT_EXEC) != 0;
  int error = errno;
  munmap(page, bytes);
  errno = error;
  return refused ? "mprotect(PROT_EXEC) of written memory" : NULL;
}

/* Its cache of compiled code: reserved, then taken piece by piece. */
static const char *commits_executable(size_t bytes) {
  void *page = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (page == MAP_FAILED) {
    return NULL;
  }
  bool refused = mmap(page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                      0) == MAP_FAILED;
  int error = errno;
  munmap(page, bytes);
  errno = error;
  return refused ? "mmap(PROT_WRITE | PROT_EXEC)" : NULL;
}

/* Linux's own switch tells of itself; SELinux refuses with EACCES, filters of system calls mostly with EPERM. */
static const char *remedy_of(int error, bool denied_by_switch) {
  if (denied_by_switch) {
    return "PR_SET_MDWE forbids it; for a service of systemd set MemoryDenyWriteExecute=no";
  }
  return error == EACCES
             ? "SELinux forbids it to this domain, or a filter of system calls does: allow execmem, or for a "
               "service of systemd set MemoryDenyWriteExecute=no"
             : "a filter of system calls forbids it: for a service of systemd set "
               "MemoryDenyWriteExecute=no, elsewhere allow it in the filter";
}

static bool may_make_code(void) {
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  const char *refused = marks_executable(bytes);
  if (refused == NULL) {
    refused = commits_executable(bytes);
  }
  if (refused == NULL) {
    return true;
  }
  int error = errno;
  int denied = prctl(PR_GET_MDWE, 0, 0, 0, 0); /* -1 where Linux is older */
  heddle_log(NCCL_LOG_WARN, "Java makes machine code as it runs, and this process may not: %s gives \"%s\". %s",
             refused, strerror(error), remedy_of(error, denied > 0 && (denied & PR_MDWE_REFUSE_EXEC_GAIN) != 0));
  return false;
}

/* ---- which processors, and where a stack lies, which glibc tells only with them ---- */

static bool may_count_processors(void) {
  pthread_attr_t attributes;
  int error = pthread_getattr_np(pthread_self(), &attributes);
  if (error == 0) {
    pthread_attr_destroy(&attributes);
    unsigned long allowed[1024]; /* of 65,536 processors, by the plain call, since the count is what Java looks at */
    error = sched_getaffinity(0, sizeof allowed, (cpu_set_t *)allowed) == 0 ? 0 : errno;
  }
  if (error != 0) {
    heddle_log(NCCL_LOG_WARN,
               "Java counts its processors, and this process may not: sched_getaffinity gives \"%s\". Allow that call "
               "in the filter of system calls (systemd: SystemCallFilter=, containers: their seccomp profile)",
               strerror(error));
  }
  return error == 0;
}

bool heddle_java_may_run(void) { return may_make_code() && may_count_processors(); }
