/* Functions shared by the C plugins that benchmarks compare Heddle with: one device, no flush and no finalize. */
#ifndef ONE_DEVICE_H
#define ONE_DEVICE_H

#include <string.h>

#include "nccl_abi.h"

static int one_device(int *count) {
  *count = 1;
  return NCCL_SUCCESS;
}

/* Fills in the properties. `receives`: maximum number of buffers of one irecv. */
static int properties_of(char *name, int receives, struct nccl_properties_v12 *properties) {
  memset(properties, 0, sizeof *properties);
  properties->name = name;
  properties->guid = 1;
  properties->pointer_support = 1;
  properties->registration_is_global = 1;
  properties->speed = 100000;
  properties->max_comms = 65536;
  properties->max_receives = receives;
  properties->virtual_device.count = 1;
  properties->max_p2p_bytes = properties->max_collective_bytes = 1UL << 30;
  properties->max_multi_request_size = 1;
  properties->rail_id = properties->plane_id = -1;
  return NCCL_SUCCESS;
}

static int no_flush(void *comm, int n, void **data, int *sizes, void **memory, void **request) {
  (void)comm, (void)n, (void)data, (void)sizes, (void)memory;
  *request = NULL;
  return NCCL_SUCCESS;
}

static int no_end(void *context) {
  (void)context;
  return NCCL_SUCCESS;
}

#endif
