/* Settings of the devices from the environment. README.md beside this folder lists them. */
#ifndef STANDIN_SETTINGS_H
#define STANDIN_SETTINGS_H

#include "fabric.h"

/*
 * Sets `host` to the number of this process's host, STANDIN_HOST. This and the next two functions return 0 or an errno
 * value.
 */
int settings_host(uint32_t *host);

/* Sets `count` to STANDIN_DEVICES, or to 0 if it isn't set. */
int settings_device_count(uint32_t *count);

/*
 * Sets `bytes` to STANDIN_LOCKED_BYTES, the limit of registered memory per process, or to UINT64_MAX for the kernel's
 * own limit.
 */
int settings_locked_bytes(uint64_t *bytes);
/* Returns STANDIN_COMPLETIONS, the largest completion queue, or QUEUE_ENTRIES if it isn't set or is no number. */
int settings_completions(void);
/* Returns whether ibv_reg_dmabuf_mr is supported; it then accepts any mappable file. */
bool settings_dma_buf(void);
/* Returns STANDIN_INSTANT: whether posts complete at once, without a transport. */
bool settings_instant(void);

/* Fills a host's devices from the environment. Returns 0, or EINVAL after a line on stderr. */
int settings_devices(uint32_t host, struct shared_host *to);

/* Parses a number within the limits. Returns 0, or EINVAL after a line on stderr. */
int parse_number(const char *what, const char *text, double least, double most, double *value);

#endif
