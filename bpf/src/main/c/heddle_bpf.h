// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Declarations that BPF programs need beyond linux/bpf.h, so that they compile with clang and the kernel's headers
// alone: sections, map definitions that libbpf reads from BTF, and the helpers in use. Helpers are called by number,
// which is kernel ABI (bpf-helpers(7)).
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#define SECTION(name) __attribute__((section(name), used))
#define ALWAYS_INLINE inline __attribute__((always_inline))

#define MAP_NUMBER(name, value) int(*name)[value]
#define MAP_TYPE(name, type) typeof(type) *name

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static __u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static __u32 (*bpf_get_prandom_u32)(void) = (void *)7;
static long (*bpf_skb_load_bytes)(const void *skb, __u32 offset, void *to, __u32 length) = (void *)26;
static long (*bpf_set_hash)(struct __sk_buff *skb, __u32 hash) = (void *)48;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FROM_NETWORK_16(value) __builtin_bswap16(value)
#define FROM_NETWORK_32(value) __builtin_bswap32(value)
#else
#define FROM_NETWORK_16(value) (value)
#define FROM_NETWORK_32(value) (value)
#endif
