/*
 * Replacements for calls by which Java's libraries open files and folders, installed in their GOT slots (got_slots.c).
 *
 * Descriptors: open() returns the lowest free number. Daemons and batch systems close descriptors 0 to 2, and later
 * open other files under these numbers by dup2(). A file of Java's with such a number would silently become another
 * file. So Java gets numbers from 3 on; LinuxCalls.java does the same for files that the plugin's Java code opens.
 *
 * Programs that the host starts: Java leaves its descriptors open across exec(), so a host's child would keep sockets
 * and files of Java open. So all descriptors are close-on-exec, except pipes to a process that Java starts.
 *
 * Closed descriptors: a library that cleans up by close_range() closes Java's files too. Loading the next class would
 * then end the process without a message, or keep Java from reporting a failure. So classes are read from memory:
 * Java's own from its image, the plugin's from the jar.
 *
 * Working directory: Java doesn't start in a removed directory, such as a job's deleted scratch folder. So Java then
 * gets / as its working directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shim.h"

#define FIRST_FD (STDERR_FILENO + 1)

/* Moves a descriptor to a number from 3 on, by F_DUPFD or F_DUPFD_CLOEXEC. */
static int raise_by(int move, int fd) {
  if (fd < 0 || fd >= FIRST_FD) {
    return fd;
  }
  int lifted = fcntl(fd, move, FIRST_FD);
  int error = errno;
  close(fd);
  errno = error;
  return lifted;
}

static int raise_fd(int fd) { return raise_by(F_DUPFD_CLOEXEC, fd); }

/* Moves both descriptors like raise_by. If one can't be moved, closes both and returns -1. */
static int raise_both(int move, int result, int fds[2]) {
  if (result != 0) {
    return result;
  }
  fds[0] = raise_by(move, fds[0]);
  int error = errno;
  fds[1] = raise_by(move, fds[1]);
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

/* The mode is always passed, since open() reads it only if it creates a file. */
static int open_file(const char *path, int flags, unsigned mode) {
  return raise_fd(open64(path, flags | O_CLOEXEC, mode));
}
static int open_socket(int domain, int type, int protocol) {
  return raise_fd(socket(domain, type | SOCK_CLOEXEC, protocol));
}
static int open_epoll(int flags) { return raise_fd(epoll_create1(flags | EPOLL_CLOEXEC)); }
static int open_eventfd(unsigned value, int flags) { return raise_fd(eventfd(value, flags | EFD_CLOEXEC)); }
static int open_inotify(void) { return raise_fd(inotify_init1(IN_CLOEXEC)); }
static int open_copy(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD); }
static int open_pipe(int fds[2]) { return raise_both(F_DUPFD_CLOEXEC, pipe2(fds, O_CLOEXEC), fds); }
/* libjava's pipes lead to a process that it starts, which inherits them across exec(). */
static int open_pipe_to_process(int fds[2]) { return raise_both(F_DUPFD, pipe(fds), fds); }
static int open_pair(int domain, int type, int protocol, int fds[2]) {
  return raise_both(F_DUPFD_CLOEXEC, socketpair(domain, type | SOCK_CLOEXEC, protocol, fds), fds);
}
static int open_accepted(int fd, struct sockaddr *address, socklen_t *bytes) {
  return raise_fd(accept4(fd, address, bytes, SOCK_CLOEXEC));
}

static FILE *open_stream(const char *path, const char *mode) {
  FILE *file = fopen64(path, mode);
  if (file == NULL) {
    return NULL;
  }
  if (fileno(file) >= FIRST_FD) {
    fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    return file;
  }
  int lifted = fcntl(fileno(file), F_DUPFD_CLOEXEC, FIRST_FD);
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
  int fd = raise_fd(open64(path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC));
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
  heddle_log(NCCL_LOG_INFO, "can't read the working directory (%s); the plugin's JVM uses / instead", strerror(errno));
  return strcpy(path, "/");
}

/* ---- lib/modules, the JDK's classes: libjimage maps the whole file, but reads it through its descriptor ---- */

static struct {
  int fd;
  const char *bytes; /* NULL if the image isn't mapped */
  size_t count;
} image;

static void *map_image(void *wish, size_t bytes, int protection, int flags, int fd, off64_t offset) {
  void *mapped = mmap64(wish, bytes, protection, flags, fd, offset);
  if (mapped != MAP_FAILED && fd >= 0 && offset == 0 && __atomic_load_n(&image.bytes, __ATOMIC_ACQUIRE) == NULL) {
    image.fd = fd;
    image.count = bytes;
    __atomic_store_n(&image.bytes, mapped, __ATOMIC_RELEASE);
  }
  return mapped;
}

static int unmap_image(void *mapped, size_t bytes) {
  if (mapped == __atomic_load_n(&image.bytes, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&image.bytes, NULL, __ATOMIC_RELEASE);
  }
  return munmap(mapped, bytes);
}

/* Reads from the mapping, since the host may have closed or reused the descriptor. */
static ssize_t read_image(int fd, void *to, size_t bytes, off64_t at) {
  const char *from = __atomic_load_n(&image.bytes, __ATOMIC_ACQUIRE);
  if (from == NULL || fd != image.fd || at < 0 || (size_t)at > image.count || bytes > image.count - (size_t)at) {
    return pread64(fd, to, bytes, at);
  }
  memcpy(to, from + at, bytes);
  return (ssize_t)bytes;
}

/* ---- the jar: libjava reads it with read() and lseek(), one thread at a time ---- */

static struct {
  int fd;
  const char *bytes; /* NULL if the jar isn't mapped */
  off64_t count, at;
  char path[PATH_MAX];
} jar;

static bool is_jar(int fd) { return __atomic_load_n(&jar.bytes, __ATOMIC_ACQUIRE) != NULL && fd == jar.fd; }

static void map_jar(int fd) {
  off64_t count = lseek64(fd, 0, SEEK_END);
  lseek64(fd, 0, SEEK_SET);
  void *mapped = count <= 0 ? MAP_FAILED : mmap64(NULL, (size_t)count, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapped != MAP_FAILED) {
    jar.fd = fd;
    jar.count = count;
    jar.at = 0;
    __atomic_store_n(&jar.bytes, mapped, __ATOMIC_RELEASE);
  }
}

static int open_jar_or_file(const char *path, int flags, unsigned mode) {
  int fd = open_file(path, flags, mode);
  if (fd >= 0 && is_jar(fd)) {
    /*
     * The host has closed the jar's descriptor, and this file got its number. Java still reads the jar under that
     * number, so this file needs another number.
     */
    int other = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    int error = errno;
    close(fd);
    errno = error;
    return other;
  }
  if (fd >= 0 && jar.bytes == NULL && strcmp(path, jar.path) == 0) {
    map_jar(fd);
  }
  return fd;
}

static off64_t seek_jar_or_file(int fd, off64_t offset, int whence) {
  if (!is_jar(fd)) {
    return lseek64(fd, offset, whence);
  }
  off64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? jar.at : jar.count;
  if (base + offset < 0) {
    errno = EINVAL;
    return -1;
  }
  return jar.at = base + offset;
}

static ssize_t read_jar_or_file(int fd, void *to, size_t bytes) {
  if (!is_jar(fd)) {
    return read(fd, to, bytes);
  }
  size_t left = jar.at < jar.count ? (size_t)(jar.count - jar.at) : 0;
  size_t count = bytes < left ? bytes : left;
  memcpy(to, jar.bytes + jar.at, count);
  jar.at += (off64_t)count;
  return (ssize_t)count;
}

static int close_jar_or_file(int fd) {
  if (is_jar(fd)) {
    munmap((void *)jar.bytes, (size_t)jar.count);
    __atomic_store_n(&jar.bytes, NULL, __ATOMIC_RELEASE);
  }
  return close(fd);
}

static void replace(const char *jvm, const char *name, const struct heddle_got_slot *replacements, int count) {
  void *library = heddle_library_of_java(jvm, name);
  if (library != NULL) {
    heddle_got_replace(library, replacements, count);
  }
}

void heddle_java_library_hooks_install(void *jvm_library, const char *jvm, const char *jar_path) {
  static const struct heddle_got_slot REPLACEMENTS[] = {
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
  heddle_got_replace(jvm_library, REPLACEMENTS, COUNT);
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
    replace(jvm, NAMES[i], REPLACEMENTS, COUNT);
  }
  static const struct heddle_got_slot OF_IMAGE[] = {
      {"mmap64", __extension__(void *) map_image},
      {"munmap", __extension__(void *) unmap_image},
      {"pread64", __extension__(void *) read_image},
  };
  static const struct heddle_got_slot OF_LIBJAVA[] = {
      {"pipe", __extension__(void *) open_pipe_to_process}, {"open64", __extension__(void *) open_jar_or_file},
      {"lseek64", __extension__(void *) seek_jar_or_file},  {"read", __extension__(void *) read_jar_or_file},
      {"close", __extension__(void *) close_jar_or_file},
  };
  snprintf(jar.path, sizeof jar.path, "%s", jar_path);
  replace(jvm, "libjimage.so", OF_IMAGE, sizeof OF_IMAGE / sizeof OF_IMAGE[0]);
  replace(jvm, "libjava.so", OF_LIBJAVA, sizeof OF_LIBJAVA / sizeof OF_LIBJAVA[0]);
}
