/* Version 11 of NCCL's net plugin interface: NCCL 2.28 and 2.29. */
#include "shim.h"

static int init(void **context, uint64_t comm_id, struct nccl_config *config, nccl_logger logger,
                nccl_profiler profiler) {
  heddle_profiler = profiler;
  return heddle_init(11, comm_id, config == NULL ? -1 : config->traffic_class, logger, context);
}

static int get_properties(int device, struct nccl_properties_v11 *properties) {
  struct heddle_properties wide;
  int result = heddle_get_properties(device, &wide);
  if (result != NCCL_SUCCESS) {
    return result;
  }
  *properties = (struct nccl_properties_v11){
      .name = (char *)wide.name,
      .pci_path = (char *)wide.pci_path,
      .guid = wide.guid,
      .pointer_support = heddle_clamp(wide.pointer_support),
      .registration_is_global = heddle_clamp(wide.registration_is_global),
      .force_flush = heddle_clamp(wide.force_flush),
      .speed = heddle_clamp(wide.speed_megabits_per_second),
      .port = heddle_clamp(wide.port),
      .latency = (float)wide.latency_us,
      .max_comms = heddle_clamp(wide.max_comms),
      .max_receives = heddle_clamp(wide.max_receives),
      .net_device_type = NCCL_NET_DEVICE_HOST,
      .net_device_version = 0,
      .virtual_device = {.count = 1, .devices = {device}},
      .max_p2p_bytes = (size_t)wide.max_p2p_bytes,
      .max_collective_bytes = (size_t)wide.max_collective_bytes,
      .max_multi_request_size = heddle_clamp(wide.max_multi_request_size),
  };
  return NCCL_SUCCESS;
}

/* Members that are not set are NULL: the plugin has no device offload, no fusing of devices and no hints. */
HEDDLE_EXPORT const struct nccl_net_v11 ncclNetPlugin_v11 = {
    .name = HEDDLE_NAME,
    .init = init,
    .devices = heddle_devices,
    .get_properties = get_properties,
    .listen = heddle_listen,
    .connect = heddle_connect_v11,
    .accept = heddle_accept_v7,
    .reg = heddle_reg,
    .reg_dma_buf = heddle_reg_dma_buf,
    .dereg = heddle_dereg,
    .isend = heddle_isend_v10,
    .irecv = heddle_irecv_v10,
    .iflush = heddle_iflush,
    .test = heddle_test,
    .close_send = heddle_close_send,
    .close_receive = heddle_close_receive,
    .close_listen = heddle_close_listen,
    .finalize = heddle_finalize,
};
