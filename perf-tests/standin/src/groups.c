/* Multicast groups of an InfiniBand subnet, as its manager and its switches know them. */
#include <errno.h>
#include <string.h>

#include "fabric.h"

static bool same(const union ibv_gid *one, const union ibv_gid *other) { return memcmp(one, other, sizeof *one) == 0; }

static uint32_t find(const union ibv_gid *group) {
  for (uint32_t i = 0; i < GROUPS; i++) {
    if (same(&fabric->groups[i].gid, group)) return i;
  }
  return GROUPS;
}

static uint32_t lid_at(uint32_t group) {
  return FIRST_GROUP_LID + (fabric->lost_groups + group) % (LAST_GROUP_LID + 1 - FIRST_GROUP_LID);
}

uint32_t subnet_lid(const union ibv_gid *group) {
  uint32_t at = find(group);
  return at == GROUPS ? 0 : lid_at(at);
}

static struct subnet_join *join_of(uint32_t owner, uint32_t host, uint32_t device, uint32_t group, bool receives) {
  for (uint32_t i = 0; i < JOINS; i++) {
    struct subnet_join *join = &fabric->joins[i];
    if (join->owner == owner && (owner == 0 || (join->host == host && join->device == device && join->group == group &&
                                                join->receives == receives))) {
      return join;
    }
  }
  return NULL;
}

int subnet_join(uint32_t owner, uint32_t host, uint32_t device, const union ibv_gid *group, bool receives,
                uint32_t *lid) {
  static const union ibv_gid none;
  if (group->raw[0] != 0xff) return EINVAL;
  lock(&fabric->membership_lock);
  uint32_t at = find(group);
  if (at == GROUPS) at = find(&none);
  struct subnet_join *free = join_of(0, 0, 0, 0, false);
  int error = at == GROUPS || free == NULL ? ENOMEM : 0;
  if (error == 0) {
    fabric->groups[at].gid = *group;
    *free =
        (struct subnet_join){.owner = owner, .group = at, .host = host, .device = device, .receives = receives ? 1 : 0};
    *lid = lid_at(at);
  }
  unlock(&fabric->membership_lock);
  return error;
}

bool subnet_leave(uint32_t owner, uint32_t host, uint32_t device, const union ibv_gid *group, bool receives) {
  lock(&fabric->membership_lock);
  struct subnet_join *join = join_of(owner, host, device, find(group), receives);
  if (join != NULL) join->owner = 0;
  unlock(&fabric->membership_lock);
  return join != NULL;
}

bool subnet_has(uint32_t host, uint32_t device, const union ibv_gid *group, bool receives) {
  bool found = false;
  lock(&fabric->membership_lock);
  uint32_t at = find(group);
  for (uint32_t i = 0; i < JOINS && !found; i++) {
    const struct subnet_join *join = &fabric->joins[i];
    found = join->owner != 0 && join->group == at && join->host == host && join->device == device &&
            (!receives || join->receives != 0) && (join->owner == PERMANENT_JOIN || is_process_alive(join->owner));
  }
  unlock(&fabric->membership_lock);
  return found;
}

void subnet_forget(uint32_t owner) {
  for (uint32_t i = 0; i < JOINS; i++) {
    if (fabric->joins[i].owner == owner) fabric->joins[i].owner = 0;
  }
}

void subnet_restart(void) {
  lock(&fabric->membership_lock);
  memset(fabric->groups, 0, sizeof fabric->groups);
  memset(fabric->joins, 0, sizeof fabric->joins);
  fabric->lost_groups += GROUPS;
  unlock(&fabric->membership_lock);
  for (uint32_t i = 0; i < PROCESSES; i++) {
    if (atomic_load(&fabric->processes[i].pid) != 0) send_message(i + 1, (struct message){.kind = MESSAGE_GROUPS_LOST});
  }
}
