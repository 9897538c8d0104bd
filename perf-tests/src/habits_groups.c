/* Two groups of communicators between the same ranks at once. Each group has its own thread, as in NCCL. */
#include <pthread.h>

#include "habits.h"

enum { GROUPS = 2 };

static struct group {
  struct link links[HABITS_MOST_RANKS];
  int count, number;
} groups[GROUPS];

static void *drive(void *group_of_thread) {
  struct group *group = group_of_thread;
  exchange(group->links, group->count, group->number, options.rounds);
  return NULL;
}

void run_groups(void) {
  pthread_t threads[GROUPS];
  load_plugin();
  for (int i = 0; i < GROUPS; i++) {
    groups[i].number = i;
    groups[i].count = open_links(groups[i].links);
  }
  for (int i = 0; i < GROUPS; i++) {
    if (pthread_create(&threads[i], NULL, drive, &groups[i]) != 0) fail_with(EXIT_BAD_USAGE, "cannot start a thread");
  }
  for (int i = 0; i < GROUPS; i++) pthread_join(threads[i], NULL);
  barrier();
  for (int i = 0; i < GROUPS; i++) {
    for (int k = 0; k < groups[i].count; k++) close_link(&groups[i].links[k]);
  }
  net_unload(&net);
}
