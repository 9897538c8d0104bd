/*
 * Java ends the process if the kernel refuses a call that it needs. So each of these calls is tried once before Java
 * starts, exactly as Java makes it. A seccomp filter that kills instead of refusing ends the process here, as it would
 * in Java.
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

/* linux/prctl.h defines these constants since Linux 6.3. */
#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* ---- executable memory ---- */

/* Tries to write a page and then make it executable, as the JVM does first. Returns the refused call, or NULL. */
static const char *marks_executable(size_t bytes) {
  void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return NULL; /* start_limits.c reports a lack of memory */
  }
  int refused = mprotect(page, bytes, PROT_READ | PROT_EXEC) != 0;
  int error = errno;
  munmap(page, bytes);
  errno = error;
  return refused ? "mprotect(PROT_EXEC) of written memory" : NULL;
}

/*
 * Tries to reserve memory and then commit it in pieces, as for the JVM's code cache. Returns the refused call, or NULL.
 */
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

/*
 * Returns the remedy for a refused call, by its likely cause. Linux's MDWE switch can be read; SELinux refuses with
 * EACCES, seccomp filters mostly with EPERM.
 */
static const char *remedy_of(int error, bool denied_by_switch) {
  if (denied_by_switch) {
    return "PR_SET_MDWE forbids it; for a systemd service set MemoryDenyWriteExecute=no";
  }
  return error == EACCES ? "SELinux forbids it to this domain, or a seccomp filter does: allow execmem, or for a "
                           "systemd service set MemoryDenyWriteExecute=no"
                         : "a seccomp filter forbids it: for a systemd service set "
                           "MemoryDenyWriteExecute=no, elsewhere allow it in the filter";
}

static bool may_execute_new_code(void) {
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  const char *refused = marks_executable(bytes);
  if (refused == NULL) {
    refused = commits_executable(bytes);
  }
  if (refused == NULL) {
    return true;
  }
  int error = errno;
  int denied = prctl(PR_GET_MDWE, 0, 0, 0, 0); /* -1 on versions of Linux without this call */
  heddle_log(NCCL_LOG_WARN,
             "Java compiles at run time, and this process may not have executable memory: %s failed with \"%s\". %s",
             refused, strerror(error), remedy_of(error, denied > 0 && (denied & PR_MDWE_REFUSE_EXEC_GAIN) != 0));
  return false;
}

/* ---- CPU affinity, which glibc also needs to find a thread's stack ---- */

static bool may_read_affinity(void) {
  pthread_attr_t attributes;
  int error = pthread_getattr_np(pthread_self(), &attributes);
  if (error == 0) {
    pthread_attr_destroy(&attributes);
    unsigned long allowed[1024]; /* room for 65,536 processors */
    error = sched_getaffinity(0, sizeof allowed, (cpu_set_t *)allowed) == 0 ? 0 : errno;
  }
  if (error != 0) {
    heddle_log(
        NCCL_LOG_WARN,
        "Java reads its processor affinity, and this process may not: sched_getaffinity failed with \"%s\". Allow it "
        "in the seccomp filter (systemd: SystemCallFilter=, containers: their seccomp profile)",
        strerror(error));
  }
  return error == 0;
}

bool heddle_java_may_run(void) { return may_execute_new_code() && may_read_affinity(); }
