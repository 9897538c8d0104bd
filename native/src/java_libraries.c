/*
 * What Java's own libraries take of the process in ways that a guest shouldn't, by their slots (slots.c).
 *
 * Descriptors: open() gives the lowest free number. A host that closed 0 to 2, as daemons and batch systems do, puts other files
 * there later by dup2(), whatever has the number by then: a file of Java's would be another file from then on. So Java gets
 * numbers from 3 on; LinuxCalls.java does the same for what our Java opens by itself.
 *
 * The working directory: Java doesn't start where it was removed, as the scratch folders of jobs are. It takes / for it then.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shim.h"

#define FIRST_OF_OURS (STDERR_FILENO + 1)

static int lift(int fd) {
  if (fd < 0 || fd >= FIRST_OF_OURS) {
    return fd;
  }
  int lifted = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OF_OURS);
  int error = errno;
  close(fd);
  errno = error;
  return lifted;
}

/* Both ends or none. */
static int lift_two(int result, int fds[2]) {
  if (result != 0) {
    return result;
  }
  fds[0] = lift(fds[0]);
  int error = errno;
  fds[1] = lift(fds[1]);
  if (fds[0] >= 0 && fds[1] >= 0) {
    return 0;
  }
  error = fds[0] < 0 ? error : errno;
  for (int i = 0; i < 2; i++) {
    if (fds[i] >= 0) {
      close(fds[i]);
    }
  }
  errno = error;
  return -1;
}

/* open() has its mode only where it makes a file. */
static int open_file(const char *path, int flags, unsigned mode) { return lift(open64(path, flags, mode)); }
static int open_socket(int domain, int type, int protocol) { return lift(socket(domain, type, protocol)); }
static int open_epoll(int flags) { return lift(epoll_create1(flags)); }
static int open_eventfd(unsigned value, int flags) { return lift(eventfd(value, flags)); }
static int open_inotify(void) { return lift(inotify_init()); }
static int open_copy(int fd) { return lift(dup(fd)); }
static int open_pipe(int fds[2]) { return lift_two(pipe(fds), fds); }
static int open_pair(int domain, int type, int protocol, int fds[2]) {
  return lift_two(socketpair(domain, type, protocol, fds), fds);
}
static int open_accepted(int fd, struct sockaddr *address, socklen_t *bytes) {
  return lift(accept(fd, address, bytes));
}

static FILE *open_stream(const char *path, const char *mode) {
  FILE *file = fopen64(path, mode);
  if (file == NULL || fileno(file) >= FIRST_OF_OURS) {
    return file;
  }
  int lifted = fcntl(fileno(file), F_DUPFD_CLOEXEC, FIRST_OF_OURS);
  FILE *other = lifted < 0 ? NULL : fdopen(lifted, mode);
  int error = errno;
  fclose(file);
  if (other == NULL && lifted >= 0) {
    close(lifted);
  }
  errno = error;
  return other;
}

static DIR *open_folder(const char *path) {
  int fd = lift(open64(path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC));
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  int error = errno;
  if (folder == NULL && fd >= 0) {
    close(fd);
  }
  errno = error;
  return folder;
}

static char *working_folder(char *path, size_t bytes) {
  char *found = getcwd(path, bytes);
  if (found != NULL || path == NULL || bytes < 2 || (errno != ENOENT && errno != EACCES)) {
    return found;
  }
  heddle_log(NCCL_LOG_INFO, "the working directory can't be told (%s); the plugin's Java takes / for it",
             strerror(errno));
  return strcpy(path, "/");
}

void heddle_java_libraries_bend(void *jvm_library, const char *jvm) {
  static const struct heddle_slot REPLACEMENTS[] = {
      {"open", __extension__(void *) open_file},
      {"open64", __extension__(void *) open_file},
      {"socket", __extension__(void *) open_socket},
      {"accept", __extension__(void *) open_accepted},
      {"epoll_create1", __extension__(void *) open_epoll},
      {"eventfd", __extension__(void *) open_eventfd},
      {"inotify_init", __extension__(void *) open_inotify},
      {"dup", __extension__(void *) open_copy},
      {"pipe", __extension__(void *) open_pipe},
      {"socketpair", __extension__(void *) open_pair},
      {"fopen", __extension__(void *) open_stream},
      {"fopen64", __extension__(void *) open_stream},
      {"opendir", __extension__(void *) open_folder},
      {"getcwd", __extension__(void *) working_folder},
  };
  enum { COUNT = sizeof REPLACEMENTS / sizeof REPLACEMENTS[0] };
  static const char *const NAMES[] = {"libjava.so", "libjimage.so", "libnet.so", "libnio.so", "libzip.so"};
  heddle_slots_replace(jvm_library, REPLACEMENTS, COUNT);
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
    void *library = heddle_library_of_java(jvm, NAMES[i]);
    if (library != NULL) {
      heddle_slots_replace(library, REPLACEMENTS, COUNT);
    }
  }
}
