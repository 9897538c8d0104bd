/* Version 13 of NCCL's one-sided interface, exported under the names RMA and GIN. Every signal is strong. */
#include "shim.h"

static int create_contexts(void *comm, struct nccl_gin_config_v13 *config, void **contexts,
                           struct nccl_device_handle **device) {
  static struct nccl_device_handle proxy = {.type = NCCL_NET_DEVICE_GIN_PROXY, .needs_proxy_progress = 1};
  *device = &proxy;
  return heddle_group_contexts(comm, config->contexts, config->traffic_class, 1, contexts);
}

static int reg(void *comm, void *data, size_t size, int type, uint64_t flags, void **handle, void **device_handle) {
  int result = heddle_group_reg(comm, data, size, type, flags, handle);
  *device_handle = *handle;
  return result;
}

static int reg_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                       void **handle, void **device_handle) {
  *device_handle = NULL;
  return heddle_group_reg_dma_buf(comm, data, size, type, offset, fd, flags, handle);
}

static int put_signal(void *contexts, int context, uint64_t local_offset, void *local, size_t size,
                      uint64_t remote_offset, void *remote, uint32_t rank, uint64_t signal_offset, void *signal,
                      uint64_t value, uint32_t operation, void **request) {
  return heddle_group_put_signal(contexts, context, local_offset, local, size, remote_offset, remote, rank,
                                 signal_offset, signal, value, operation, true, request);
}

HEDDLE_EXPORT const struct nccl_gin_v13 ncclRmaPlugin_v13 = {
    .name = HEDDLE_NAME,
    .init = heddle_group_init,
    .devices = heddle_devices,
    .get_properties = heddle_group_get_properties,
    .listen = heddle_group_listen,
    .connect = heddle_group_connect,
    .create_contexts = create_contexts,
    .reg = reg,
    .reg_dma_buf = reg_dma_buf,
    .dereg = heddle_group_dereg,
    .destroy_contexts = heddle_group_destroy_contexts,
    .close = heddle_group_close,
    .close_listen = heddle_group_close_listen,
    .put = heddle_group_put,
    .put_signal = put_signal,
    .get = heddle_group_get,
    .flush = heddle_group_flush,
    .test = heddle_group_test,
    .progress = heddle_group_progress,
    .last_error = heddle_group_last_error,
    .finalize = heddle_finalize,
};

HEDDLE_EXPORT extern const struct nccl_gin_v13 ncclGinPlugin_v13 __attribute__((alias("ncclRmaPlugin_v13")));
