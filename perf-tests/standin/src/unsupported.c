/*
 * The remaining verbs of libibverbs, which the devices of this stand-in library don't support. They fail as on a device
 * without that feature.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local.h"

static void *nothing(int error) {
  errno = error;
  return NULL;
}

/*
 * Registered memory needs no protection from fork: this library copies to and from the parent's memory, of which a
 * child has its own copy.
 */
int ibv_fork_init(void) { return 0; }
enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }
int ibv_dontfork_range(void *base, size_t size);
int ibv_dontfork_range(void *base, size_t size) {
  (void)base, (void)size;
  return 0;
}
int ibv_dofork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size) {
  (void)base, (void)size;
  return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *wanted) {
  (void)pd, (void)wanted;
  return nothing(EOPNOTSUPP);
}
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *wanted, int mask) {
  (void)srq, (void)wanted, (void)mask;
  return EOPNOTSUPP;
}
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *to) {
  (void)srq, (void)to;
  return EOPNOTSUPP;
}
int ibv_destroy_srq(struct ibv_srq *srq) {
  (void)srq;
  return EOPNOTSUPP;
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *path, uint8_t mac[ETHERNET_LL_SIZE],
                                uint16_t *vlan) {
  (void)context, (void)path, (void)mac, (void)vlan;
  return -EOPNOTSUPP;
}
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece) {
  (void)qp, (void)ece;
  return EOPNOTSUPP;
}
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece) {
  (void)qp, (void)ece;
  return EOPNOTSUPP;
}
struct ibv_context *ibv_import_device(int file) {
  (void)file;
  return nothing(EOPNOTSUPP);
}
struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle) {
  (void)context, (void)handle;
  return nothing(EOPNOTSUPP);
}
void ibv_unimport_pd(struct ibv_pd *pd) { (void)pd; }
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle) {
  (void)pd, (void)handle;
  return nothing(EOPNOTSUPP);
}
void ibv_unimport_mr(struct ibv_mr *mr) { (void)mr; }
struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle) {
  (void)context, (void)handle;
  return nothing(EOPNOTSUPP);
}
void ibv_unimport_dm(struct ibv_dm *dm) { (void)dm; }

/* ---- sysfs, which has no entries for these devices ---- */

const char *ibv_get_sysfs_path(void) {
  const char *path = getenv("SYSFS_PATH");
  return path == NULL ? "/sys" : path;
}

int ibv_read_sysfs_file(const char *folder, const char *name, char *to, size_t size);
int ibv_read_sysfs_file(const char *folder, const char *name, char *to, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = read(file, to, size);
  close(file);
  if (length > 0 && to[length - 1] == '\n') length--;
  if (length >= 0 && (size_t)length < size) to[length] = '\0';
  return (int)length;
}
