/* Version 14 of NCCL's one-sided interface: NCCL 2.30. */
#include "shim.h"

static int create_contexts(void *comm, struct nccl_rma_config_v14 *config, void **contexts) {
  return heddle_group_contexts(comm, config->contexts, config->traffic_class, config->rank_stride, contexts);
}

HEDDLE_EXPORT const struct nccl_rma_v14 ncclRmaPlugin_v14 = {
    .name = HEDDLE_NAME,
    .init = heddle_group_init,
    .devices = heddle_devices,
    .get_properties = heddle_group_get_properties,
    .listen = heddle_group_listen,
    .connect = heddle_group_connect,
    .create_contexts = create_contexts,
    .reg = heddle_group_reg,
    .reg_dma_buf = heddle_group_reg_dma_buf,
    .dereg = heddle_group_dereg,
    .destroy_contexts = heddle_group_destroy_contexts,
    .close = heddle_group_close,
    .close_listen = heddle_group_close_listen,
    .put = heddle_group_put,
    .put_signal = heddle_group_put_signal,
    .get = heddle_group_get,
    .flush = heddle_group_flush,
    .test = heddle_group_test,
    .progress = heddle_group_progress,
    .last_error = heddle_group_last_error,
    .finalize = heddle_finalize,
};
