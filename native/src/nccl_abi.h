/*
 * The binary interface of NCCL's net plugins, versions 6 to 12, declared anew for the plugin. The numbers are facts of
 * the interface (x86-64 and arm64, LP64), asserted at the end of this file. New versions extend a table only at its
 * end, but have changed the properties in the middle. So each version has its own struct, and none is ever cast to
 * another. Versions with the same layout share one declaration.
 */
#ifndef HEDDLE_NCCL_ABI_H
#define HEDDLE_NCCL_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
  NCCL_SUCCESS = 0,
  NCCL_SYSTEM_ERROR = 2,
  NCCL_INTERNAL_ERROR = 3,
  NCCL_INVALID_ARGUMENT = 4,
  NCCL_INVALID_USAGE = 5,
  NCCL_REMOTE_ERROR = 6
};

enum { NCCL_LOG_WARN = 2, NCCL_LOG_INFO = 3, NCCL_LOG_TRACE = 5 };

enum { NCCL_SUBSYSTEM_INIT = 1, NCCL_SUBSYSTEM_NET = 16 };

enum { NCCL_NET_DEVICE_HOST = 0 };

/* NCCL's logger. It is variadic, so only C calls it. */
typedef void (*nccl_logger)(int level, unsigned long subsystems, const char *file, int line, const char *format, ...);

/* NCCL's profiler callback, an argument of init(). profile.c calls it. */
typedef int (*nccl_profiler)(void **event, int type, void *parent, int64_t plugin_id, void *data);

struct nccl_config {
  int traffic_class; /* -1 if undefined */
};

/* ---- properties ---- */

struct nccl_properties_v6 {
  char *name;
  char *pci_path;
  uint64_t guid;
  int pointer_support;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_receives;
};

struct nccl_properties_v7 {
  char *name;
  char *pci_path;
  uint64_t guid;
  int pointer_support;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
};

struct nccl_properties_v8 {
  char *name;
  char *pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
};

struct nccl_virtual_4 {
  int count;
  int devices[4];
};

struct nccl_virtual_8 {
  int count;
  int devices[8];
};

/* properties of versions 9 and 10 */
struct nccl_properties_v9 {
  char *name;
  char *pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
  struct nccl_virtual_4 virtual_device;
  size_t max_p2p_bytes;
  size_t max_collective_bytes;
};

struct nccl_properties_v11 {
  char *name;
  char *pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
  struct nccl_virtual_4 virtual_device;
  size_t max_p2p_bytes;
  size_t max_collective_bytes;
  int max_multi_request_size;
};

struct nccl_properties_v12 {
  char *name;
  char *pci_path;
  uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_receives;
  int net_device_type;
  int net_device_version;
  struct nccl_virtual_8 virtual_device;
  size_t max_p2p_bytes;
  size_t max_collective_bytes;
  int max_multi_request_size;
  int16_t rail_id;
  int16_t plane_id;
};

/* ---- functions whose signature never changed, or is the same in several versions ---- */

typedef int nccl_devices(int *count);
typedef int nccl_reg_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, void **handle);
typedef int nccl_dereg(void *comm, void *handle);
typedef int nccl_iflush(void *comm, int n, void **data, int *sizes, void **handles, void **request);
typedef int nccl_test(void *request, int *done, int *sizes);
typedef int nccl_close(void *comm);

typedef int nccl_listen_v6(int device, void *handle, void **listen_comm); /* up to v10 */
typedef int nccl_listen_v11(void *context, int device, void *handle, void **listen_comm);

typedef int nccl_connect_v6(int device, void *handle, void **comm);
typedef int nccl_connect_v7(int device, void *handle, void **comm, void **device_handle); /* up to v9 */
typedef int nccl_connect_v10(int device, struct nccl_config *, void *handle, void **comm, void **device_handle);
typedef int nccl_connect_v11(void *context, int device, void *handle, void **comm, void **device_handle);

typedef int nccl_accept_v6(void *listen_comm, void **comm);
typedef int nccl_accept_v7(void *listen_comm, void **comm, void **device_handle);

typedef int nccl_reg_v6(void *comm, void *data, int size, int type, void **handle); /* up to v7 */
typedef int nccl_reg_v8(void *comm, void *data, size_t size, int type, void **handle);

typedef int nccl_isend_v6(void *comm, void *data, int size, int tag, void *handle, void **request); /* up to v8 */
typedef int nccl_isend_v9(void *comm, void *data, size_t size, int tag, void *handle, void **request);
typedef int nccl_isend_v10(void *comm, void *data, size_t size, int tag, void *handle, void *profiler_handle,
                           void **request);

typedef int nccl_irecv_v6(void *comm, int n, void **data, int *sizes, int *tags, void **handles, void **request);
typedef int nccl_irecv_v9(void *comm, int n, void **data, size_t *sizes, int *tags, void **handles, void **request);
typedef int nccl_irecv_v10(void *comm, int n, void **data, size_t *sizes, int *tags, void **handles,
                           void **profiler_handles, void **request);

typedef int nccl_get_device_mr(void *comm, void *handle, void **device_handle);
typedef int nccl_irecv_consumed(void *comm, int n, void *request);
typedef int nccl_make_virtual_device(int *device, void *properties);
typedef int nccl_set_net_attributes(void *context, void *attributes);

/* ---- tables ---- */

struct nccl_net_v6 {
  const char *name;
  int (*init)(nccl_logger);
  nccl_devices *devices;
  int (*get_properties)(int device, struct nccl_properties_v6 *);
  nccl_listen_v6 *listen;
  nccl_connect_v6 *connect;
  nccl_accept_v6 *accept;
  nccl_reg_v6 *reg;
  nccl_reg_dma_buf *reg_dma_buf;
  nccl_dereg *dereg;
  nccl_isend_v6 *isend;
  nccl_irecv_v6 *irecv;
  nccl_iflush *iflush;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
};

struct nccl_net_v7 {
  const char *name;
  int (*init)(nccl_logger);
  nccl_devices *devices;
  int (*get_properties)(int device, struct nccl_properties_v7 *);
  nccl_listen_v6 *listen;
  nccl_connect_v7 *connect;
  nccl_accept_v7 *accept;
  nccl_reg_v6 *reg;
  nccl_reg_dma_buf *reg_dma_buf;
  nccl_dereg *dereg;
  nccl_isend_v6 *isend;
  nccl_irecv_v6 *irecv;
  nccl_iflush *iflush;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
  nccl_get_device_mr *get_device_mr;
  nccl_irecv_consumed *irecv_consumed;
};

struct nccl_net_v8 {
  const char *name;
  int (*init)(nccl_logger);
  nccl_devices *devices;
  int (*get_properties)(int device, struct nccl_properties_v8 *);
  nccl_listen_v6 *listen;
  nccl_connect_v7 *connect;
  nccl_accept_v7 *accept;
  nccl_reg_v8 *reg;
  nccl_reg_dma_buf *reg_dma_buf;
  nccl_dereg *dereg;
  nccl_isend_v6 *isend;
  nccl_irecv_v6 *irecv;
  nccl_iflush *iflush;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
  nccl_get_device_mr *get_device_mr;
  nccl_irecv_consumed *irecv_consumed;
};

struct nccl_net_v9 {
  const char *name;
  int (*init)(nccl_logger);
  nccl_devices *devices;
  int (*get_properties)(int device, struct nccl_properties_v9 *);
  nccl_listen_v6 *listen;
  nccl_connect_v7 *connect;
  nccl_accept_v7 *accept;
  nccl_reg_v8 *reg;
  nccl_reg_dma_buf *reg_dma_buf;
  nccl_dereg *dereg;
  nccl_isend_v9 *isend;
  nccl_irecv_v9 *irecv;
  nccl_iflush *iflush;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
  nccl_get_device_mr *get_device_mr;
  nccl_irecv_consumed *irecv_consumed;
  nccl_make_virtual_device *make_virtual_device;
};

struct nccl_net_v10 {
  const char *name;
  int (*init)(nccl_logger, nccl_profiler);
  nccl_devices *devices;
  int (*get_properties)(int device, struct nccl_properties_v9 *);
  nccl_listen_v6 *listen;
  nccl_connect_v10 *connect;
  nccl_accept_v7 *accept;
  nccl_reg_v8 *reg;
  nccl_reg_dma_buf *reg_dma_buf;
  nccl_dereg *dereg;
  nccl_isend_v10 *isend;
  nccl_irecv_v10 *irecv;
  nccl_iflush *iflush;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
  nccl_get_device_mr *get_device_mr;
  nccl_irecv_consumed *irecv_consumed;
  nccl_make_virtual_device *make_virtual_device;
};

struct nccl_net_v11 {
  const char *name;
  int (*init)(void **context, uint64_t comm_id, struct nccl_config *, nccl_logger, nccl_profiler);
  nccl_devices *devices;
  int (*get_properties)(int device, struct nccl_properties_v11 *);
  nccl_listen_v11 *listen;
  nccl_connect_v11 *connect;
  nccl_accept_v7 *accept;
  nccl_reg_v8 *reg;
  nccl_reg_dma_buf *reg_dma_buf;
  nccl_dereg *dereg;
  nccl_isend_v10 *isend;
  nccl_irecv_v10 *irecv;
  nccl_iflush *iflush;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
  nccl_get_device_mr *get_device_mr;
  nccl_irecv_consumed *irecv_consumed;
  nccl_make_virtual_device *make_virtual_device;
  int (*finalize)(void *context);
  nccl_set_net_attributes *set_net_attributes;
};

struct nccl_net_v12 {
  const char *name;
  int (*init)(void **context, uint64_t comm_id, struct nccl_config *, nccl_logger, nccl_profiler);
  nccl_devices *devices;
  int (*get_properties)(int device, struct nccl_properties_v12 *);
  nccl_listen_v11 *listen;
  nccl_connect_v11 *connect;
  nccl_accept_v7 *accept;
  nccl_reg_v8 *reg;
  nccl_reg_dma_buf *reg_dma_buf;
  nccl_dereg *dereg;
  nccl_isend_v10 *isend;
  nccl_irecv_v10 *irecv;
  nccl_iflush *iflush;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
  nccl_get_device_mr *get_device_mr;
  nccl_irecv_consumed *irecv_consumed;
  nccl_make_virtual_device *make_virtual_device;
  int (*finalize)(void *context);
  nccl_set_net_attributes *set_net_attributes;
};

/* ---- assertions of the interface's facts ---- */

#define ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "size of " #type)
#define ABI_AT(type, member, bytes) _Static_assert(offsetof(struct type, member) == (bytes), #type "." #member)

ABI_SIZE(nccl_net_v6, 136);
ABI_SIZE(nccl_net_v7, 152);
ABI_SIZE(nccl_net_v8, 152);
ABI_SIZE(nccl_net_v9, 160);
ABI_SIZE(nccl_net_v10, 160);
ABI_SIZE(nccl_net_v11, 176);
ABI_SIZE(nccl_net_v12, 176);

ABI_SIZE(nccl_properties_v6, 48);
ABI_AT(nccl_properties_v6, guid, 16);
ABI_AT(nccl_properties_v6, pointer_support, 24);
ABI_AT(nccl_properties_v6, speed, 28);
ABI_AT(nccl_properties_v6, port, 32);
ABI_AT(nccl_properties_v6, latency, 36);
ABI_AT(nccl_properties_v6, max_comms, 40);
ABI_AT(nccl_properties_v6, max_receives, 44);

ABI_SIZE(nccl_properties_v7, 56);
ABI_AT(nccl_properties_v7, max_receives, 44);
ABI_AT(nccl_properties_v7, net_device_type, 48);
ABI_AT(nccl_properties_v7, net_device_version, 52);

ABI_SIZE(nccl_properties_v8, 64);
ABI_AT(nccl_properties_v8, registration_is_global, 28);
ABI_AT(nccl_properties_v8, speed, 32);
ABI_AT(nccl_properties_v8, port, 36);
ABI_AT(nccl_properties_v8, latency, 40);
ABI_AT(nccl_properties_v8, max_comms, 44);
ABI_AT(nccl_properties_v8, max_receives, 48);
ABI_AT(nccl_properties_v8, net_device_type, 52);
ABI_AT(nccl_properties_v8, net_device_version, 56);

ABI_SIZE(nccl_properties_v9, 104);
ABI_AT(nccl_properties_v9, registration_is_global, 28);
ABI_AT(nccl_properties_v9, force_flush, 32);
ABI_AT(nccl_properties_v9, speed, 36);
ABI_AT(nccl_properties_v9, port, 40);
ABI_AT(nccl_properties_v9, latency, 44);
ABI_AT(nccl_properties_v9, max_comms, 48);
ABI_AT(nccl_properties_v9, max_receives, 52);
ABI_AT(nccl_properties_v9, net_device_type, 56);
ABI_AT(nccl_properties_v9, net_device_version, 60);
ABI_AT(nccl_properties_v9, virtual_device, 64);
ABI_AT(nccl_properties_v9, max_p2p_bytes, 88);
ABI_AT(nccl_properties_v9, max_collective_bytes, 96);

ABI_SIZE(nccl_properties_v11, 112);
ABI_AT(nccl_properties_v11, virtual_device, 64);
ABI_AT(nccl_properties_v11, max_p2p_bytes, 88);
ABI_AT(nccl_properties_v11, max_collective_bytes, 96);
ABI_AT(nccl_properties_v11, max_multi_request_size, 104);

ABI_SIZE(nccl_properties_v12, 128);
ABI_SIZE(nccl_virtual_4, 20);
ABI_SIZE(nccl_virtual_8, 36);
ABI_AT(nccl_properties_v12, force_flush, 32);
ABI_AT(nccl_properties_v12, net_device_version, 60);
ABI_AT(nccl_properties_v12, virtual_device, 64);
ABI_AT(nccl_properties_v12, max_p2p_bytes, 104);
ABI_AT(nccl_properties_v12, max_collective_bytes, 112);
ABI_AT(nccl_properties_v12, max_multi_request_size, 120);
ABI_AT(nccl_properties_v12, rail_id, 124);
ABI_AT(nccl_properties_v12, plane_id, 126);

#undef ABI_SIZE
#undef ABI_AT

#endif
