/*
 * Code that the lifecycle programs share. Each program is one test: it exits with 0 and prints "ok: ..." lines, or
 * with 1 after a line with the expected and the actual value. PLUGIN_UNDER_TEST names the library, as NCCL_NET_PLUGIN
 * would.
 */
#ifndef HEDDLE_TEST_HARNESS_H
#define HEDDLE_TEST_HARNESS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../src/nccl_abi.h"

#define CHECK(condition, ...) \
  do { \
    if (!(condition)) { \
      dprintf(report, "%s:%d: expected %s; ", __FILE__, __LINE__, #condition); \
      dprintf(report, __VA_ARGS__); \
      dprintf(report, "\nlog so far:\n%s", logged); \
      _exit(1); \
    } \
  } while (0)

/* Descriptor for failures: standard error, or a copy of it if a test has redirected standard error. */
static int report = STDERR_FILENO;

/* All messages that the plugin logged, one per line, and the number of warnings among them. */
static char logged[1 << 16];
static int warnings;
/* The last warning, which NCCL keeps as its last error. */
static char last_warning[1024];
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void logger(int level, unsigned long subsystems, const char *file, int line, const char *format, ...) {
  (void)subsystems;
  (void)file;
  (void)line;
  pthread_mutex_lock(&log_lock);
  size_t used = strlen(logged);
  va_list arguments;
  va_start(arguments, format);
  int written = vsnprintf(logged + used, sizeof logged - used - 2, format, arguments);
  va_end(arguments);
  if (written > 0) {
    strcat(logged, "\n");
  }
  if (level == NCCL_LOG_WARN) {
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", logged + used);
  }
  pthread_mutex_unlock(&log_lock);
}

static inline void forget_log(void) {
  pthread_mutex_lock(&log_lock);
  logged[0] = '\0';
  warnings = 0;
  pthread_mutex_unlock(&log_lock);
}

static inline void *load(void) {
  const char *path = getenv("PLUGIN_UNDER_TEST");
  CHECK(path != NULL, "PLUGIN_UNDER_TEST must name the library");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL, "dlopen: %s", dlerror());
  return library;
}

static inline const void *table(void *library, const char *name) {
  const void *found = dlsym(library, name);
  CHECK(found != NULL, "%s is not exported", name);
  return found;
}

static inline const struct nccl_net_v12 *table_v12(void *library) { return table(library, "ncclNetPlugin_v12"); }

static inline void *init_v12(const struct nccl_net_v12 *net, uint64_t comm_id) {
  struct nccl_config config = {.traffic_class = -1};
  void *context = NULL;
  int result = net->init(&context, comm_id, &config, logger, NULL);
  CHECK(result == NCCL_SUCCESS, "init returned %d", result);
  CHECK(context != NULL, "init gave no context");
  return context;
}

/* Makes the calls that NCCL makes after init. Expects at least one device, with a name and a path. */
static inline void use_v12(const struct nccl_net_v12 *net) {
  int count = 0;
  int result = net->devices(&count);
  CHECK(result == NCCL_SUCCESS && count > 0, "devices returned %d, count %d", result, count);
  for (int device = 0; device < count; device++) {
    struct nccl_properties_v12 properties;
    memset(&properties, 0x5a, sizeof properties);
    result = net->get_properties(device, &properties);
    CHECK(result == NCCL_SUCCESS, "getProperties returned %d", result);
    CHECK(properties.name != NULL && properties.name[0] != '\0', "device %d has no name", device);
    CHECK(properties.pci_path != NULL && properties.pci_path[0] != '\0', "device %d has no path", device);
    CHECK(properties.speed > 0 && properties.max_receives == 8, "speed %d, receives %d", properties.speed,
          properties.max_receives);
  }
}

/* Redirects standard error to a file, to check that only the host writes there. */
static inline int capture_stderr(void) {
  char path[] = "/tmp/heddle-stderr-XXXXXX";
  int file = mkstemp(path);
  report = dup(STDERR_FILENO);
  CHECK(file >= 0 && report >= 0, "no temporary file");
  unlink(path);
  dup2(file, STDERR_FILENO);
  return file;
}

static inline void stderr_must_be_empty(int file) {
  char words[512] = "";
  dup2(report, STDERR_FILENO);
  ssize_t length = pread(file, words, sizeof words - 1, 0);
  close(file);
  CHECK(length == 0, "the host's standard error got: %s", words);
}

static inline long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

/* Returns a value of /proc/self/status, in KiB. */
static inline long status_kib(const char *name) {
  FILE *file = fopen("/proc/self/status", "re");
  char line[256];
  long value = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) {
      value = atol(line + strlen(name) + 1);
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return value;
}

#endif
