/*
 * Code that the host programs of this folder share. Each program runs twice, with and without GUEST_PLUGIN (run.py),
 * and must behave alike. Lines of output that begin with "# " aren't compared.
 */
#ifndef HEDDLE_TEST_GUEST_H
#define HEDDLE_TEST_GUEST_H

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../src/nccl_abi.h"

#define GUEST_SKIPPED 77

#define MUST(condition, ...) \
  do { \
    if (!(condition)) { \
      printf("%s:%d: expected %s; ", __FILE__, __LINE__, #condition); \
      printf(__VA_ARGS__); \
      printf("\n"); \
      fflush(stdout); \
      _exit(99); \
    } \
  } while (0)

static const struct nccl_net_v12 *guest_net; /* NULL in the run without a plugin */
static void *guest_context;

static inline void guest_logger(int level, unsigned long subsystems, const char *file, int line, const char *format,
                                ...) {
  (void)subsystems;
  (void)file;
  (void)line;
  char sentence[4200];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(sentence, sizeof sentence - 1, format, arguments);
  va_end(arguments);
  length = length < (int)sizeof sentence - 1 ? length : (int)sizeof sentence - 2;
  sentence[length++] = '\n';
  const char *path = getenv("GUEST_LOG");
  int out = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out >= 0 && level <= NCCL_LOG_INFO) {
    ssize_t written = write(out, sentence, (size_t)length);
    (void)written;
  }
  if (out >= 0) close(out);
}

/* Returns init's result; 0 without a plugin. */
static inline int guest_try_init(void) {
  const char *path = getenv("GUEST_PLUGIN");
  if (path == NULL) return 0;
  if (guest_net == NULL) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    MUST(library != NULL, "dlopen: %s", dlerror());
    guest_net = dlsym(library, "ncclNetPlugin_v12");
    MUST(guest_net != NULL, "no table");
  }
  struct nccl_config config = {.traffic_class = -1};
  return guest_net->init(&guest_context, 1, &config, guest_logger, NULL);
}

/* Makes NCCL's first calls. If GUEST_MAY_REFUSE is set, init may fail, and the host continues without the plugin. */
static inline void guest_init(void) {
  int result = guest_try_init();
  if (result == NCCL_SYSTEM_ERROR && getenv("GUEST_MAY_REFUSE") != NULL) {
    guest_net = NULL;
    result = NCCL_SUCCESS;
  }
  MUST(result == NCCL_SUCCESS, "init returned %d", result);
  if (guest_net != NULL) {
    int count = 0;
    result = guest_net->devices(&count);
    MUST(result == NCCL_SUCCESS && count > 0, "devices returned %d, count %d", result, count);
  }
}

/* Makes a control-path call, which lets the plugin check the signal handlers. */
static inline void guest_control(void) {
  if (guest_net != NULL) {
    char handle[128];
    void *comm = NULL;
    int result = guest_net->listen(guest_context, 9999, handle, &comm);
    MUST(result != NCCL_SUCCESS, "listen on device 9999 succeeded");
  }
}

static inline void guest_nap_us(long us) {
  nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* ---- a connection of the process with itself ---- */

struct guest_link {
  void *send, *receive;
  void *send_memory, *receive_memory;
  char *from, *to;
  size_t bytes;
};

static inline void guest_connect(struct guest_link *link, size_t bytes) {
  memset(link, 0, sizeof *link);
  link->bytes = bytes;
  link->from = malloc(bytes);
  link->to = calloc(1, bytes);
  if (guest_net == NULL) return;
  char handle[128];
  void *listener = NULL;
  int result = guest_net->listen(guest_context, 0, handle, &listener);
  MUST(result == NCCL_SUCCESS, "listen returned %d", result);
  for (int i = 0; i < 20000 && (link->send == NULL || link->receive == NULL); i++) {
    if (link->send == NULL) {
      result = guest_net->connect(guest_context, 0, handle, &link->send, NULL);
      MUST(result == NCCL_SUCCESS, "connect returned %d", result);
    }
    if (link->receive == NULL) {
      result = guest_net->accept(listener, &link->receive, NULL);
      MUST(result == NCCL_SUCCESS, "accept returned %d", result);
    }
    guest_nap_us(500);
  }
  MUST(link->send != NULL && link->receive != NULL, "no connection");
  result = guest_net->close_listen(listener);
  MUST(result == NCCL_SUCCESS, "closeListen returned %d", result);
  result = guest_net->reg(link->send, link->from, bytes, 1, &link->send_memory);
  MUST(result == NCCL_SUCCESS, "regMr returned %d", result);
  result = guest_net->reg(link->receive, link->to, bytes, 1, &link->receive_memory);
  MUST(result == NCCL_SUCCESS, "regMr returned %d", result);
}

/* Sends a message. Returns the first result that isn't success. Without a plugin, copies the bytes. */
static inline int guest_message(struct guest_link *link, int fill) {
  memset(link->from, fill, link->bytes);
  if (guest_net == NULL) {
    memcpy(link->to, link->from, link->bytes);
    return NCCL_SUCCESS;
  }
  void *sent = NULL, *received = NULL;
  int tag = 7;
  int sent_done = 0, received_done = 0;
  while (!sent_done || !received_done) {
    int result = NCCL_SUCCESS;
    if (received == NULL) {
      void *data = link->to;
      size_t size = link->bytes;
      result = guest_net->irecv(link->receive, 1, &data, &size, &tag, &link->receive_memory, NULL, &received);
    } else if (!received_done) {
      int sizes[8];
      result = guest_net->test(received, &received_done, sizes);
    }
    if (result == NCCL_SUCCESS && sent == NULL) {
      result = guest_net->isend(link->send, link->from, link->bytes, tag, link->send_memory, NULL, &sent);
    } else if (result == NCCL_SUCCESS && !sent_done) {
      result = guest_net->test(sent, &sent_done, NULL);
    }
    if (result != NCCL_SUCCESS) return result;
  }
  MUST(link->to[0] == (char)fill && link->to[link->bytes - 1] == (char)fill, "wrong bytes arrived");
  return NCCL_SUCCESS;
}

/* ---- the process's signals, from the kernel ---- */

/* Signals of Java's own faults, for which the plugin therefore has a handler (docs/decisions/host-process.md). */
#define GUEST_FAULTS (1UL << (SIGSEGV - 1) | 1UL << (SIGBUS - 1) | 1UL << (SIGFPE - 1) | 1UL << (SIGILL - 1))
/* The signal with which Java wakes its own threads. */
#define GUEST_WAKE (1UL << (64 - 2 - 1))
/* glibc's two internal signals, 32 and 33. It may catch them once the process has created a thread. */
#define GUEST_GLIBC (1UL << 31 | 1UL << 32)

static inline unsigned long guest_status_bits(const char *name) {
  FILE *file = fopen("/proc/thread-self/status", "re");
  char line[256];
  unsigned long bits = ~0UL;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) bits = strtoul(line + strlen(name) + 1, NULL, 16);
  }
  if (file != NULL) fclose(file);
  return bits;
}

/* Prints which signals, except the fault signals, are caught, ignored, and blocked by this thread. */
static inline void guest_print_signals(const char *when) {
  unsigned long others = ~(GUEST_FAULTS | GUEST_WAKE | GUEST_GLIBC);
  printf("%s: caught %016lx ignored %016lx blocked %016lx\n", when, guest_status_bits("SigCgt") & others,
         guest_status_bits("SigIgn") & ~GUEST_GLIBC, guest_status_bits("SigBlk"));
  fflush(stdout);
}

#endif
