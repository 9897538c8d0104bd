#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "among.h"
#include "rendezvous.h"
#include "report.h"

static pthread_t service;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int connected, closing;

static unsigned char *allocate(size_t bytes) {
  unsigned char *memory = aligned_alloc(4096, bytes);
  if (memory == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu bytes", bytes);
  memset(memory, 0, bytes);
  return memory;
}

/* ---- the topology ---- */

static struct end *make_end(struct group *group, int channel, const char *kind, int peer, int sends) {
  if (peer < 0) return NULL;
  struct end *end = aligned_alloc(64, (sizeof *end + 63) / 64 * 64);
  if (end == NULL) fail_with(EXIT_BAD_USAGE, "no memory for a connection");
  memset(end, 0, sizeof *end);
  end->peer = peer;
  end->sends = sends;
  snprintf(end->name, sizeof end->name, "%s-%d-from-%d", kind, channel, sends ? group->rank : peer);
  end->buffers[LINES] = allocate((size_t)STEPS * LINES_SLOT_BYTES);
  end->buffers[SIMPLE] = allocate((size_t)STEPS * SIMPLE_SLOT_BYTES);
  for (int i = 0; i < STEPS; i++) atomic_init(&end->sizes[i], -1);
  group->ends[group->end_count++] = end;
  return end;
}

struct node {
  int parent, children[MOST_CHILDREN];
};

/*
 * Returns a rank's position in NCCL's binary tree: odd ranks are leaves, and the lowest set bit gives the distance to
 * the parent.
 */
static struct node node_of(int rank, int ranks) {
  int bit = 1;
  while (bit < ranks && !(bit & rank)) bit <<= 1;
  if (rank == 0) return (struct node){-1, {-1, bit >> 1 > 0 ? bit >> 1 : -1}};
  int parent = (rank ^ bit) | bit << 1, below = bit >> 1;
  if (parent >= ranks) parent = rank ^ bit;
  int right = -1;
  for (int far = below; far > 0 && right < 0; far >>= 1) right = rank + far < ranks ? rank + far : -1;
  return (struct node){parent, {below > 0 ? rank - below : -1, right}};
}

static int other(int rank, int of, int by) { return rank < 0 ? -1 : (rank + by + of) % of; }

/*
 * Returns a rank's position in a channel's tree. The second tree of each pair is the first tree shifted or mirrored, so
 * that a rank is an inner node of one tree and a leaf of the other tree.
 */
static struct node node_of_channel(const struct group *group, int channel) {
  int ranks = group->ranks, rank = group->rank;
  if (channel % 2 == 0) return node_of(rank, ranks);
  if (ranks % 2 == 1) {
    struct node node = node_of(other(rank, ranks, -1), ranks);
    return (struct node){other(node.parent, ranks, 1),
                         {other(node.children[0], ranks, 1), other(node.children[1], ranks, 1)}};
  }
  struct node node = node_of(ranks - 1 - rank, ranks);
  int *each[] = {&node.parent, &node.children[0], &node.children[1]};
  for (int i = 0; i < 3; i++) *each[i] = *each[i] < 0 ? -1 : ranks - 1 - *each[i];
  return node;
}

static void lay_out(struct group *group) {
  for (int c = 0; c < group->channel_count; c++) {
    struct channel *channel = &group->channels[c];
    if (group->algorithm == RING) {
      channel->next = make_end(group, c, "ring", other(group->rank, group->ranks, 1), 1);
      channel->previous = make_end(group, c, "ring", other(group->rank, group->ranks, -1), 0);
      continue;
    }
    struct node node = node_of_channel(group, c);
    channel->to_parent = make_end(group, c, "up", node.parent, 1);
    channel->from_parent = make_end(group, c, "down", node.parent, 0);
    for (int i = 0; i < MOST_CHILDREN; i++) {
      channel->to_children[i] = make_end(group, c, "down", node.children[i], 1);
      channel->from_children[i] = make_end(group, c, "up", node.children[i], 0);
    }
  }
}

/* ---- the service thread ---- */

static void connect_all(struct group *group) {
  struct net_plugin *net = group->net;
  static char handles[MOST_CHANNELS * 6][NET_HANDLE_BYTES];
  for (int i = 0; i < group->end_count; i++) {
    struct end *end = group->ends[i];
    if (end->sends) continue;
    check(net_listen(net, 0, handles[i], &end->listener), "listen");
    if (rendezvous_put(group->folder, end->name, group->rank, handles[i], NET_HANDLE_BYTES) != 0) {
      _exit(EXIT_BAD_USAGE);
    }
  }
  for (int i = 0; i < group->end_count; i++) {
    struct end *end = group->ends[i];
    if (!end->sends) continue;
    if (rendezvous_get(group->folder, end->name, end->peer, handles[i], NET_HANDLE_BYTES, group->timeout_seconds) !=
        0) {
      _exit(EXIT_TIMED_OUT);
    }
    progress();
  }
  for (int left = group->end_count; left > 0;) {
    int before = left;
    left = 0;
    for (int i = 0; i < group->end_count; i++) {
      struct end *end = group->ends[i];
      if (end->comm != NULL) continue;
      if (end->sends) {
        check(net_connect(net, 0, handles[i], &end->comm), "connect");
      } else {
        check(net_accept(net, end->listener, &end->comm), "accept");
      }
      left += end->comm == NULL;
    }
    if (left < before) progress();
    if (left > 0) usleep(100);
  }
  for (int i = 0; i < group->end_count; i++) {
    struct end *end = group->ends[i];
    size_t sizes[PROTOCOLS] = {(size_t)STEPS * LINES_SLOT_BYTES, (size_t)STEPS * SIMPLE_SLOT_BYTES};
    for (int p = 0; p < PROTOCOLS; p++) {
      check(net_register(net, end->comm, end->buffers[p], sizes[p], &end->memory[p]), "regMr");
    }
  }
}

static void close_all(struct group *group) {
  for (int i = 0; i < group->end_count; i++) {
    struct end *end = group->ends[i];
    for (int p = 0; p < PROTOCOLS; p++) check(net_deregister(group->net, end->comm, end->memory[p]), "deregMr");
    if (end->sends) {
      check(net_close_send(group->net, end->comm), "closeSend");
    } else {
      check(net_close_receive(group->net, end->comm), "closeRecv");
      check(net_close_listen(group->net, end->listener), "closeListen");
    }
    for (int p = 0; p < PROTOCOLS; p++) free(end->buffers[p]);
    free(end);
    progress();
  }
}

static void *serve(void *argument) {
  struct group *group = argument;
  connect_all(group);
  pthread_mutex_lock(&lock);
  connected = 1;
  pthread_cond_broadcast(&changed);
  while (!closing) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  close_all(group);
  return NULL;
}

void among_connect(struct group *group) {
  lay_out(group);
  if (pthread_create(&service, NULL, serve, group) != 0 || pthread_setname_np(service, "service") != 0)
    fail_with(EXIT_BAD_USAGE, "cannot start a thread");
  pthread_mutex_lock(&lock);
  while (!connected) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void among_close(struct group *group) {
  (void)group;
  pthread_mutex_lock(&lock);
  closing = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(service, NULL);
}
