/* What the environment says about the devices. Each setting is named in README.md beside this folder. */
#ifndef STANDIN_SETTINGS_H
#define STANDIN_SETTINGS_H

#include "fabric.h"

/* This process's host: STANDIN_HOST. */
int settings_host(uint32_t *host);

/* STANDIN_DEVICES, or 0 where it isn't set. */
int settings_device_count(uint32_t *count);

/* STANDIN_LOCKED_BYTES: how much memory a process may register; UINT64_MAX where the kernel's own limit holds. */
int settings_locked_bytes(uint64_t *bytes);
/* STANDIN_COMPLETIONS: how many a completion queue may hold; QUEUE_ENTRIES where it isn't set, or is no number. */
int settings_completions(void);
/* Whether ibv_reg_dmabuf_mr is there; it takes any file that can be mapped. */
bool settings_dma_buf(void);
/* STANDIN_INSTANT: whether posts complete at once, and nothing else is done. */
bool settings_instant(void);

/* Fills a host's devices from the environment; 0, or EINVAL after a line on stderr. */
int settings_devices(uint32_t host, struct shared_host *to);

/* The number in text, within the limits, or EINVAL after a line on stderr. */
int parse_number(const char *what, const char *text, double least, double most, double *value);

#endif
