#include "net_plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl_abi.h"
#include "report.h"

static const char *prefix_of_log;
static int traces;
static const char *_Atomic counted_words;
static atomic_uint counted_lines;

static void log_line(int level, unsigned long subsystems, const char *file, int line, const char *format, ...) {
  (void)subsystems;
  (void)file;
  (void)line;
  if ((level > NCCL_LOG_INFO && !traces) || (prefix_of_log == NULL && level != NCCL_LOG_WARN)) return;
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *words = counted_words;
  if (words != NULL && level == NCCL_LOG_WARN && strstr(text, words) != NULL) counted_lines++;
  char time[32] = "";
  if (traces) snprintf(time, sizeof time, "%.6f ", now_seconds());
  fprintf(stderr, "%s%s NCCL %s %s\n", time, prefix_of_log == NULL ? "" : prefix_of_log,
          level == NCCL_LOG_WARN   ? "WARN"
          : level == NCCL_LOG_INFO ? "INFO"
                                   : "TRACE",
          text);
}

nccl_logger net_logger(const char *log_prefix) {
  prefix_of_log = log_prefix;
  return log_line;
}

static int profile(void **event, int type, void *parent, int64_t plugin, void *data) {
  (void)event, (void)type, (void)parent, (void)plugin, (void)data;
  return NCCL_SUCCESS;
}

/* The tables of v12 and v11 differ only in their properties, which are read according to the plugin's version. */
#define TABLE(plugin, version) ((const struct nccl_net_v##version *)(plugin)->table)

static int initialise(struct net_plugin *plugin) {
  struct nccl_config config = {.traffic_class = -1};
  if (plugin->version >= 11) return TABLE(plugin, 12)->init(&plugin->context, 1, &config, log_line, profile);
  if (plugin->version == 10) return TABLE(plugin, 10)->init(log_line, profile);
  return TABLE(plugin, 8)->init(log_line);
}

static const void *find_table(void *library, int version) {
  char symbol[32];
  snprintf(symbol, sizeof symbol, "ncclNetPlugin_v%d", version);
  return dlsym(library, symbol);
}

long net_resident_kib(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  long pages = 0;
  if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  if (file != NULL) fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int net_load(struct net_plugin *plugin, const char *path, int version, const char *log_prefix) {
  memset(plugin, 0, sizeof *plugin);
  prefix_of_log = log_prefix;
  double start = now_seconds();
  long before_kib = net_resident_kib();
  plugin->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin->library == NULL) {
    fprintf(stderr, "cannot load %s: %s\n", path, dlerror());
    return NCCL_SYSTEM_ERROR;
  }
  int newest = version == 0 ? 12 : version;
  int oldest = version == 0 ? 6 : version;
  for (int v = newest; v >= oldest && plugin->table == NULL; v--) {
    plugin->table = find_table(plugin->library, v);
    plugin->version = v;
  }
  if (plugin->table == NULL) {
    fprintf(stderr, "%s exports no ncclNetPlugin of version %d to %d\n", path, oldest, newest);
    return NCCL_INVALID_USAGE;
  }
  plugin->name = *(const char *const *)plugin->table;
  int result = initialise(plugin);
  if (result == NCCL_SUCCESS) result = TABLE(plugin, 12)->devices(&plugin->devices);
  if (result == NCCL_SUCCESS && plugin->devices < 1) {
    fprintf(stderr, "%s has no device\n", plugin->name);
    result = NCCL_SYSTEM_ERROR;
  } else if (result != NCCL_SUCCESS) {
    fprintf(stderr, "%s could not be initialised (result %d); its log says why\n", plugin->name, result);
  }
  plugin->start_seconds = now_seconds() - start;
  plugin->start_kib = net_resident_kib() - before_kib;
  return result;
}

void net_trace(void) { traces = 1; }

void net_unload(struct net_plugin *plugin) {
  if (plugin->version >= 11) TABLE(plugin, 12)->finalize(plugin->context);
  dlclose(plugin->library);
}

unsigned net_lines_with(const char *words) {
  counted_words = words;
  return counted_lines;
}

int net_max_receives(struct net_plugin *plugin, int device) {
  union {
    struct nccl_properties_v7 v7;
    struct nccl_properties_v8 v8;
    struct nccl_properties_v9 v9;
    struct nccl_properties_v11 v11;
    struct nccl_properties_v12 v12;
  } properties;
  memset(&properties, 0, sizeof properties);
  if (TABLE(plugin, 12)->get_properties(device, &properties.v12) != NCCL_SUCCESS) return 0;
  if (plugin->version <= 7) return properties.v7.max_receives; /* the field has the same offset in v6 and v7 */
  if (plugin->version == 8) return properties.v8.max_receives;
  return properties.v9.max_receives; /* the field has the same offset from v9 on */
}

int net_listen(struct net_plugin *plugin, int device, void *handle, void **comm) {
  if (plugin->version >= 11) return TABLE(plugin, 12)->listen(plugin->context, device, handle, comm);
  return TABLE(plugin, 8)->listen(device, handle, comm);
}

int net_connect(struct net_plugin *plugin, int device, void *handle, void **comm) {
  void *device_handle = NULL;
  struct nccl_config config = {.traffic_class = -1};
  if (plugin->version >= 11) {
    return TABLE(plugin, 12)->connect(plugin->context, device, handle, comm, &device_handle);
  }
  if (plugin->version == 10) return TABLE(plugin, 10)->connect(device, &config, handle, comm, &device_handle);
  if (plugin->version == 6) return TABLE(plugin, 6)->connect(device, handle, comm);
  return TABLE(plugin, 8)->connect(device, handle, comm, &device_handle);
}

int net_accept(struct net_plugin *plugin, void *listen_comm, void **comm) {
  void *device_handle = NULL;
  if (plugin->version == 6) return TABLE(plugin, 6)->accept(listen_comm, comm);
  return TABLE(plugin, 12)->accept(listen_comm, comm, &device_handle);
}

int net_register(struct net_plugin *plugin, void *comm, void *data, size_t size, void **memory) {
  if (plugin->version <= 7) {
    return size > INT_MAX ? NCCL_INVALID_USAGE : TABLE(plugin, 6)->reg(comm, data, (int)size, 1, memory);
  }
  return TABLE(plugin, 12)->reg(comm, data, size, 1, memory);
}

int net_pointer_support(struct net_plugin *plugin, int device) {
  union {
    struct nccl_properties_v7 v7;
    struct nccl_properties_v12 v12;
  } properties;
  memset(&properties, 0, sizeof properties);
  /* The field has the same offset in all versions. */
  return TABLE(plugin, 12)->get_properties(device, &properties.v12) == NCCL_SUCCESS ? properties.v7.pointer_support : 0;
}

int net_register_dma_buf(struct net_plugin *plugin, void *comm, void *data, size_t size, uint64_t offset, int file,
                         void **memory) {
  return TABLE(plugin, 12)->reg_dma_buf(comm, data, size, 2, offset, file, memory);
}

int net_iflush(struct net_plugin *plugin, void *comm, int n, void **data, int *sizes, void **memory, void **request) {
  return TABLE(plugin, 12)->iflush(comm, n, data, sizes, memory, request);
}

int net_deregister(struct net_plugin *plugin, void *comm, void *memory) {
  return TABLE(plugin, 12)->dereg(comm, memory);
}

int net_isend(struct net_plugin *plugin, void *comm, void *data, size_t size, int tag, void *memory, void **request) {
  if (plugin->version >= 10) return TABLE(plugin, 12)->isend(comm, data, size, tag, memory, NULL, request);
  if (plugin->version == 9) return TABLE(plugin, 9)->isend(comm, data, size, tag, memory, request);
  return TABLE(plugin, 8)->isend(comm, data, (int)size, tag, memory, request);
}

int net_irecv(struct net_plugin *plugin, void *comm, int n, void **data, size_t *sizes, int *tags, void **memory,
              void **request) {
  if (plugin->version >= 10) return TABLE(plugin, 12)->irecv(comm, n, data, sizes, tags, memory, NULL, request);
  if (plugin->version == 9) return TABLE(plugin, 9)->irecv(comm, n, data, sizes, tags, memory, request);
  int small[NET_MAX_RECEIVES];
  for (int i = 0; i < n; i++) small[i] = (int)sizes[i];
  return TABLE(plugin, 8)->irecv(comm, n, data, small, tags, memory, request);
}

int net_test(struct net_plugin *plugin, void *request, int *done, int *sizes) {
  return TABLE(plugin, 12)->test(request, done, sizes);
}

int net_close_send(struct net_plugin *plugin, void *comm) { return TABLE(plugin, 12)->close_send(comm); }

int net_close_receive(struct net_plugin *plugin, void *comm) { return TABLE(plugin, 12)->close_receive(comm); }

int net_close_listen(struct net_plugin *plugin, void *comm) { return TABLE(plugin, 12)->close_listen(comm); }
