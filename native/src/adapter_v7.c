/* Version 7 of NCCL's net plugin interface: NCCL 2.19. */
#include "shim.h"

static int init(nccl_logger logger) { return heddle_init(7, 0, -1, logger, NULL); }

static int get_properties(int device, struct nccl_properties_v7 *properties) {
  struct heddle_properties wide;
  int result = heddle_get_properties(device, &wide);
  if (result != NCCL_SUCCESS) {
    return result;
  }
  *properties = (struct nccl_properties_v7){
      .name = (char *)wide.name,
      .pci_path = (char *)wide.pci_path,
      .guid = wide.guid,
      .pointer_support = heddle_clamp(wide.pointer_support),
      .speed = heddle_clamp(wide.speed_megabits_per_second),
      .port = heddle_clamp(wide.port),
      .latency = (float)wide.latency_us,
      .max_comms = heddle_clamp(wide.max_comms),
      .max_receives = heddle_clamp(wide.max_receives),
      .net_device_type = NCCL_NET_DEVICE_HOST,
      .net_device_version = 0,
  };
  return NCCL_SUCCESS;
}

/* Members that are not set are NULL: the plugin has no device offload, no fusing of devices and no hints. */
HEDDLE_EXPORT const struct nccl_net_v7 ncclNetPlugin_v7 = {
    .name = HEDDLE_NAME,
    .init = init,
    .devices = heddle_devices,
    .get_properties = get_properties,
    .listen = heddle_listen_v6,
    .connect = heddle_connect_v7,
    .accept = heddle_accept_v7,
    .reg = heddle_reg_v6,
    .reg_dma_buf = heddle_reg_dma_buf,
    .dereg = heddle_dereg,
    .isend = heddle_isend_v6,
    .irecv = heddle_irecv_v6,
    .iflush = heddle_iflush,
    .test = heddle_test,
    .close_send = heddle_close_send,
    .close_receive = heddle_close_receive,
    .close_listen = heddle_close_listen,
};
