/*
 * Records the class archive beside the plugin: record_archive <plugin folder>. With --classes <file> before the folder,
 * records a list of the classes instead.
 *
 * Like NCCL, the process opens the plugin, with the JVM's final options, and uses it as far as this host permits. It
 * then ends the JVM, which a plugin must never do, and the JVM writes the archive. On a host without a usable address
 * the archive has fewer classes, which costs start time only.
 */
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jni.h>

#include "../src/nccl_abi.h"

enum { BUFFER_BYTES = 1 << 20, PATIENCE_S = 40 };

static void logger(int level, unsigned long subsystems, const char *file, int line, const char *format, ...) {
  (void)subsystems;
  (void)file;
  (void)line;
  if (level == NCCL_LOG_WARN) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
  }
}

static time_t until;

/* The limit is long, since a busy host is slow at loading classes that are in no archive. */
static bool in_time(void) {
  sched_yield();
  return time(NULL) < until;
}

/* Sends one message from the device to itself, to load the classes of a connection and of its data path too. */
static int use_plugin(const struct nccl_net_v12 *net, void *context) {
  int count = 0;
  struct nccl_properties_v12 properties;
  if (net->devices(&count) != NCCL_SUCCESS || count == 0 || net->get_properties(0, &properties) != NCCL_SUCCESS) {
    return 1;
  }
  char handle[128] = {0};
  void *listen = NULL;
  void *send = NULL;
  void *receive = NULL;
  if (net->listen(context, 0, handle, &listen) != NCCL_SUCCESS) {
    return 2;
  }
  until = time(NULL) + PATIENCE_S;
  while ((send == NULL || receive == NULL) && in_time()) {
    if (send == NULL && net->connect(context, 0, handle, &send, NULL) != NCCL_SUCCESS) {
      return 3;
    }
    if (receive == NULL && net->accept(listen, &receive, NULL) != NCCL_SUCCESS) {
      return 4;
    }
  }
  if (send == NULL || receive == NULL) {
    return 5;
  }
  static char source[BUFFER_BYTES];
  static char target[BUFFER_BYTES];
  void *source_handle = NULL;
  void *target_handle = NULL;
  void *targets[1] = {target};
  size_t sizes[1] = {BUFFER_BYTES};
  int tags[1] = {0};
  void *sent = NULL;
  void *received = NULL;
  if (net->reg(send, source, BUFFER_BYTES, 1, &source_handle) != NCCL_SUCCESS ||
      net->reg(receive, target, BUFFER_BYTES, 1, &target_handle) != NCCL_SUCCESS) {
    return 6;
  }
  int send_done = 0;
  int receive_done = 0;
  while (!(send_done && receive_done) && in_time()) {
    if (received == NULL &&
        net->irecv(receive, 1, targets, sizes, tags, &target_handle, NULL, &received) != NCCL_SUCCESS) {
      return 7;
    }
    if (sent == NULL && net->isend(send, source, BUFFER_BYTES, 0, source_handle, NULL, &sent) != NCCL_SUCCESS) {
      return 8;
    }
    if (received != NULL && !receive_done && net->test(received, &receive_done, NULL) != NCCL_SUCCESS) {
      return 9;
    }
    if (sent != NULL && !send_done && net->test(sent, &send_done, NULL) != NCCL_SUCCESS) {
      return 10;
    }
  }
  net->dereg(send, source_handle);
  net->dereg(receive, target_handle);
  net->close_send(send);
  net->close_receive(receive);
  net->close_listen(listen);
  return send_done && receive_done ? 0 : 11;
}

static int find(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  if (slash != NULL && strcmp(slash, "/libjvm.so") == 0) {
    *(const char **)out = info->dlpi_name;
    return 1;
  }
  return 0;
}

static int end_jvm(void) {
  const char *path = NULL;
  if (dl_iterate_phdr(find, &path) == 0) {
    return 1;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  jint (*created)(JavaVM **, jsize, jsize *);
  *__extension__(void **) & created = dlsym(library, "JNI_GetCreatedJavaVMs");
  JavaVM *vm = NULL;
  jsize count = 0;
  if (created(&vm, 1, &count) != JNI_OK || count != 1) {
    return 2;
  }
  return (*vm)->DestroyJavaVM(vm) == JNI_OK ? 0 : 3;
}

int main(int count, char **arguments) {
  bool list = count == 4 && strcmp(arguments[1], "--classes") == 0;
  if (count != 2 && !list) {
    fprintf(stderr, "usage: record_archive [--classes <file>] <plugin folder>\n");
    return 2;
  }
  const char *folder = arguments[count - 1];
  char library_path[4096];
  char output[4096];
  char option[5000];
  snprintf(library_path, sizeof library_path, "%s/libnccl-net-heddle.so", folder);
  if (list) {
    snprintf(output, sizeof output, "%s", arguments[2]);
    snprintf(option, sizeof option, "-Xshare:off -XX:DumpLoadedClassList=%s", output);
  } else {
    snprintf(output, sizeof output, "%s/heddle.jsa", folder);
    snprintf(option, sizeof option, "-XX:ArchiveClassesAtExit=%s", output);
  }
  unlink(output);
  setenv("HEDDLE_JVM_OPTIONS", option, 1);
  alarm(120);
  void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const struct nccl_net_v12 *net = dlsym(library, "ncclNetPlugin_v12");
  void *context = NULL;
  struct nccl_config config = {.traffic_class = -1};
  if (net->init(&context, 1, &config, logger, NULL) == NCCL_SUCCESS) {
    int step = use_plugin(net, context);
    if (step != 0) {
      fprintf(stderr, "the class archive lacks the data path's classes: step %d of its use failed\n", step);
    }
    net->finalize(context);
  }
  int step = end_jvm();
  if (step != 0 || access(output, R_OK) != 0) {
    fprintf(stderr, "nothing was written to %s (%d)\n", output, step);
    return 1;
  }
  return 0;
}
