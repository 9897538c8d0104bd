#include "one_sided_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"

enum { HANDLE_BYTES = 128 };

static const struct nccl_gin_v13 *narrow;

/* The calls of version 14, implemented by the calls of version 13, as in NCCL. */

static int create_contexts(void *comm, struct nccl_rma_config_v14 *config, void **contexts) {
  struct nccl_gin_config_v13 old = {.contexts = config->contexts, .traffic_class = config->traffic_class};
  struct nccl_device_handle *unused = NULL;
  return narrow->create_contexts(comm, &old, contexts, &unused);
}

static int reg(void *comm, void *data, size_t size, int type, uint64_t flags, void **handle) {
  void *unused = NULL;
  return narrow->reg(comm, data, size, type, flags, handle, &unused);
}

static int reg_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                       void **handle) {
  void *unused = NULL;
  return narrow->reg_dma_buf(comm, data, size, type, offset, fd, flags, handle, &unused);
}

static int put_signal(void *contexts, int context, uint64_t local_offset, void *local, size_t size,
                      uint64_t remote_offset, void *remote, uint32_t rank, uint64_t signal_offset, void *signal,
                      uint64_t value, uint32_t operation, bool strong, void **request) {
  (void)strong; /* every signal of version 13 is strong */
  return narrow->put_signal(contexts, context, local_offset, local, size, remote_offset, remote, rank, signal_offset,
                            signal, value, operation, request);
}

static void widen(struct nccl_rma_v14 *wide) {
  *wide = (struct nccl_rma_v14){
      .name = narrow->name,
      .init = narrow->init,
      .devices = narrow->devices,
      .get_properties = narrow->get_properties,
      .listen = narrow->listen,
      .connect = narrow->connect,
      .create_contexts = create_contexts,
      .reg = reg,
      .reg_dma_buf = reg_dma_buf,
      .dereg = narrow->dereg,
      .destroy_contexts = narrow->destroy_contexts,
      .close = narrow->close,
      .close_listen = narrow->close_listen,
      .put = narrow->put,
      .put_signal = put_signal,
      .get = narrow->get,
      .flush = narrow->flush,
      .test = narrow->test,
      .progress = narrow->progress,
      .last_error = narrow->last_error,
      .finalize = narrow->finalize,
  };
}

static const void *find(void *library, const char *wanted, const char **symbol) {
  static const char *const symbols[] = {"ncclRmaPlugin_v14", "ncclRmaPlugin_v13", "ncclGinPlugin_v13"};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    if (wanted != NULL && strcmp(wanted, symbols[i]) != 0) continue;
    const void *table = dlsym(library, symbols[i]);
    if (table != NULL) {
      *symbol = symbols[i];
      return table;
    }
  }
  return NULL;
}

int one_sided_load(struct one_sided *plugin, const char *path, const char *symbol, const char *log_prefix) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "cannot load %s: %s\n", path, dlerror());
    return NCCL_SYSTEM_ERROR;
  }
  const void *table = find(library, symbol, &plugin->symbol);
  if (table == NULL) {
    fprintf(stderr, "%s has no table %s\n", path, symbol == NULL ? "of the one-sided interface" : symbol);
    return NCCL_INVALID_USAGE;
  }
  if (strcmp(plugin->symbol, "ncclRmaPlugin_v14") == 0) {
    plugin->calls = *(const struct nccl_rma_v14 *)table;
  } else {
    narrow = table;
    widen(&plugin->calls);
  }
  int result = plugin->calls.init(&plugin->context, 1, net_logger(log_prefix));
  if (result == NCCL_SUCCESS) result = plugin->calls.devices(&plugin->devices);
  if (result != NCCL_SUCCESS) fprintf(stderr, "init of %s failed with %d\n", plugin->symbol, result);
  return result;
}

void one_sided_connect(struct one_sided *plugin, const struct one_sided_meeting *meeting, int contexts) {
  char handles[ONE_SIDED_MOST_RANKS][HANDLE_BYTES];
  void *pointers[ONE_SIDED_MOST_RANKS];
  void *listener = NULL;
  char *own = handles[meeting->rank];
  check(plugin->calls.listen(plugin->context, 0, own, &listener), "listen");
  if (rendezvous_put(meeting->folder, "handle", meeting->rank, own, HANDLE_BYTES) != 0) exit(EXIT_PLUGIN_ERROR);
  for (int rank = 0; rank < meeting->ranks; rank++) {
    pointers[rank] = handles[rank];
    if (rendezvous_get(meeting->folder, "handle", rank, handles[rank], HANDLE_BYTES, meeting->timeout_seconds) != 0) {
      exit(EXIT_TIMED_OUT);
    }
  }
  check(plugin->calls.connect(plugin->context, pointers, meeting->ranks, meeting->rank, listener, &plugin->group),
        "connect");
  check(plugin->calls.close_listen(listener), "closeListen");
  struct nccl_rma_config_v14 config = {.contexts = contexts, .traffic_class = -1, .rank_stride = 1};
  check(plugin->calls.create_contexts(plugin->group, &config, &plugin->contexts), "createContext");
}

void one_sided_progress(const struct one_sided *plugin) {
  check(plugin->calls.progress(plugin->contexts), "rmaProgress");
}

int one_sided_is_done(const struct one_sided *plugin, void *request) {
  int done = 0;
  check(plugin->calls.test(plugin->group, request, &done), "test");
  if (done) progress();
  return done;
}

void one_sided_barrier(const struct one_sided *plugin, const struct one_sided_meeting *meeting, const char *name) {
  char there = 1;
  if (rendezvous_put(meeting->folder, name, meeting->rank, &there, 1) != 0) exit(EXIT_PLUGIN_ERROR);
  double start = now_seconds();
  for (int rank = 0; rank < meeting->ranks; rank++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d", meeting->folder, name, rank);
    while (access(path, F_OK) != 0) {
      if (now_seconds() - start > meeting->timeout_seconds) {
        fail_with(EXIT_TIMED_OUT, "rank %d did not come to %s within %.0f s", rank, name, meeting->timeout_seconds);
      }
      one_sided_progress(plugin);
    }
    progress();
  }
}

static int memory_file(size_t bytes) {
  int file = memfd_create("device", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) fail_with(EXIT_PLUGIN_ERROR, "no memfd of %zu bytes", bytes);
  return file;
}

void *one_sided_memory(const struct one_sided *plugin, size_t bytes, uint64_t flags, void **handle) {
  enum { HOST_MEMORY = 1, DEVICE_MEMORY = 2 };
  int file = plugin->on_devices ? memory_file(bytes) : -1;
  int mapping = plugin->on_devices ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void *seen = mmap(NULL, bytes, PROT_READ | PROT_WRITE, mapping, file, 0);
  if (seen == MAP_FAILED) fail_with(EXIT_BAD_USAGE, "no memory: %zu bytes; ask for less with --max-bytes", bytes);
  if (!plugin->on_devices) {
    check(plugin->calls.reg(plugin->group, seen, bytes, HOST_MEMORY, flags, handle), "regMrSym");
    return seen;
  }
  static uintptr_t next = 0x700000000000;
  void *place = (void *)next;
  next += (bytes | 0xfffff) + 1;
  check(plugin->calls.reg_dma_buf(plugin->group, place, bytes, DEVICE_MEMORY, 0, file, flags, handle),
        "regMrSymDmaBuf");
  close(file);
  return seen;
}
