/*
 * One of two ranks with many connections to each other, as many each way, set up side by side as NCCL does it: a listener
 * for each, all asked in turn. Then messages go over all of them at once, every byte checked, and all are closed. What it
 * took is reported in lines of JSON: time, descriptors, resident memory.
 *
 * The first connection comes up alone and counts as none: what a process opens once is there with it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command_line.h"
#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"

#define MOST_CONNECTIONS 4096
#define GONE_SECONDS 10.0
#define GUARD 64
#define GUARD_BYTE 0x5a

static struct {
  const char *plugin, *folder;
  int rank, abi, connections, messages, may_refuse, open_files, verbose;
  size_t max_bytes;
  double timeout_seconds;
} options = {.rank = -1, .connections = 64, .messages = 10, .max_bytes = 65536, .timeout_seconds = 60};

enum side_state { BEGUN, UP, REFUSED };

/* One direction of a connection: this rank's sending or receiving end. */
struct side {
  enum side_state state;
  void *comm, *memory, *request;
  unsigned char *buffer;
  size_t bytes; /* of the message under way */
  int done;     /* messages */
};

struct link {
  char handle[NET_HANDLE_BYTES]; /* the peer's */
  void *listener;
  struct side send, receive;
};

static struct net_plugin net;
static struct link links[MOST_CONNECTIONS + 1];

static void usage(FILE *to) {
  fprintf(
      to,
      "heddle-connections: one of two ranks with many connections to each other, every byte of their traffic checked\n"
      "  --plugin FILE --rendezvous FOLDER --rank 0|1   needed; the folder is empty before\n"
      "  --connections N        each way, beside a first one (64)\n"
      "  --messages N           on each of them each way (10)\n"
      "  --max-bytes B          largest message (65536)\n"
      "  --open-files N         limit of this process's descriptors, soft and hard\n"
      "  --may-refuse           count connections that are refused, and use the others\n"
      "  --timeout-seconds S    without progress for so long, the process ends with exit code 4 (60)\n"
      "  --abi V                version of the plugin's interface, 6 to 12 (the newest it has)\n"
      "  --verbose              the plugin's log on standard error\n"
      "exit codes: 0 every byte right, 1 wrong bytes, 2 bad usage, 3 a call failed that must not, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, 1, NULL},
      {"connections", OPTION_INT, &options.connections, 1, MOST_CONNECTIONS, NULL},
      {"messages", OPTION_INT, &options.messages, 1, 1000000, NULL},
      {"max-bytes", OPTION_SIZE, &options.max_bytes, 1, 64 << 20, NULL},
      {"open-files", OPTION_INT, &options.open_files, 16, 1 << 20, NULL},
      {"may-refuse", OPTION_ON, &options.may_refuse, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"abi", OPTION_INT, &options.abi, 6, 12, NULL},
      {"verbose", OPTION_ON, &options.verbose, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0) bad_usage(usage);
}

/* ---- what the process has ---- */

/* Without the one that counts; where there is none left for that, as many as there may be. */
static int descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  if (folder == NULL) return options.open_files;
  int count = 0;
  for (struct dirent *each = readdir(folder); each != NULL; each = readdir(folder)) count += each->d_name[0] != '.';
  closedir(folder);
  return count - 1;
}

static void report(const char *event, int connections, int refused, double seconds) {
  printf("{\"event\":\"%s\",\"rank\":%d,\"connections\":%d,\"refused\":%d,\"seconds\":%.3f,\"descriptors\":%d,"
         "\"resident_kib\":%ld}\n",
         event, options.rank, connections, refused, seconds, descriptors(), net_resident_kib());
  fflush(stdout);
}

/* ---- up ---- */

static void tell(const char *name, int first, const void *bytes, size_t size) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%d", name, first);
  if (rendezvous_put(options.folder, whole, options.rank, bytes, size) != 0) exit(EXIT_BAD_USAGE);
}

static void hear(const char *name, int first, void *bytes, size_t size) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%d", name, first);
  progress();
  if (rendezvous_get(options.folder, whole, 1 - options.rank, bytes, size, options.timeout_seconds) != 0) {
    fail_with(EXIT_TIMED_OUT, "the other rank did not come");
  }
}

static int has_told(const char *name, int first) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%d.%d", options.folder, name, first, 1 - options.rank);
  return access(path, R_OK) == 0;
}

static void settle(struct side *side, int result, const char *call) {
  if (result != 0) {
    if (!options.may_refuse) check(result, call);
    side->state = REFUSED;
  } else if (side->comm != NULL) {
    side->state = UP;
  } else {
    return;
  }
  progress();
}

/* A listener that can't be had is a handle of zeros: the other end doesn't call it. */
static void listen_all(int first, int count) {
  char *handles = calloc((size_t)count, NET_HANDLE_BYTES);
  for (int i = 0; i < count; i++) {
    struct link *link = &links[first + i];
    int result = net_listen(&net, 0, handles + (size_t)i * NET_HANDLE_BYTES, &link->listener);
    if (result != 0) {
      if (!options.may_refuse) check(result, "listen");
      memset(handles + (size_t)i * NET_HANDLE_BYTES, 0, NET_HANDLE_BYTES);
      link->listener = NULL;
      link->receive.state = REFUSED;
    }
  }
  tell("handles", first, handles, (size_t)count * NET_HANDLE_BYTES);
  hear("handles", first, handles, (size_t)count * NET_HANDLE_BYTES);
  static const char none[NET_HANDLE_BYTES];
  for (int i = 0; i < count; i++) {
    memcpy(links[first + i].handle, handles + (size_t)i * NET_HANDLE_BYTES, NET_HANDLE_BYTES);
    if (memcmp(links[first + i].handle, none, NET_HANDLE_BYTES) == 0) links[first + i].send.state = REFUSED;
  }
  free(handles);
}

static void close_listener(struct link *link) {
  if (link->listener != NULL) check(net_close_listen(&net, link->listener), "closeListen");
  link->listener = NULL;
}

/* Every connect and accept is asked in turn until each has ended. */
static void connect_all(int first, int count) {
  char mine[MOST_CONNECTIONS + 1], theirs[MOST_CONNECTIONS + 1];
  int told = 0, heard = 0;
  for (int left = 1; left != 0;) {
    left = 0;
    int begun = 0;
    for (struct link *link = &links[first]; link < &links[first + count]; link++) {
      if (link->send.state == BEGUN)
        settle(&link->send, net_connect(&net, 0, link->handle, &link->send.comm), "connect");
      if (link->receive.state == BEGUN) {
        settle(&link->receive, net_accept(&net, link->listener, &link->receive.comm), "accept");
      }
      if (link->receive.state != BEGUN) close_listener(link);
      begun += link->send.state == BEGUN;
      left += link->receive.state == BEGUN;
    }
    if (begun == 0 && !told) {
      for (int i = 0; i < count; i++) mine[i] = links[first + i].send.state == UP;
      tell("connected", first, mine, (size_t)count);
      told = 1;
    }
    /* Who never called isn't waited for. */
    if (left > 0 && options.may_refuse && !heard && has_told("connected", first)) {
      hear("connected", first, theirs, (size_t)count);
      heard = 1;
    }
    for (int i = 0; heard && i < count; i++) {
      if (!theirs[i] && links[first + i].receive.state == BEGUN) links[first + i].receive.state = REFUSED;
    }
    left += begun;
    if (left > 0) usleep(100);
  }
}

/* Leaves only what both ends have. Returns how many directions of this rank's were refused. */
static int agree(int first, int count) {
  char *states = calloc((size_t)count, 2);
  int refused = 0;
  for (int i = 0; i < count; i++) {
    states[2 * i] = links[first + i].receive.state == UP;
    states[2 * i + 1] = links[first + i].send.state == UP;
  }
  tell("states", first, states, (size_t)count * 2);
  hear("states", first, states, (size_t)count * 2);
  for (int i = 0; i < count; i++) {
    struct link *link = &links[first + i];
    close_listener(link);
    if (!states[2 * i]) link->send.state = REFUSED;
    if (!states[2 * i + 1]) link->receive.state = REFUSED;
    refused += (link->send.state != UP) + (link->receive.state != UP);
  }
  free(states);
  return refused;
}

static int bring_up(int first, int count) {
  listen_all(first, count);
  connect_all(first, count);
  return agree(first, count);
}

/* ---- traffic ---- */

static uint64_t mixed(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

/* Both ends know it: of a link, the rank that sends and the message's number. */
static uint64_t message_of(int link, int sender, int number) {
  return mixed(((uint64_t)link * 2 + (uint64_t)sender) * 1000003u + (uint64_t)number + 1);
}

static size_t bytes_of(uint64_t message) { return (size_t)(mixed(message + 7) % (options.max_bytes + 1)); }

static unsigned char byte_at(uint64_t message, size_t position) {
  return (unsigned char)((position * 2654435761u + message * 40503u) >> 11);
}

static void prepare(struct side *side) {
  side->buffer = malloc(options.max_bytes + GUARD);
  if (side->buffer == NULL) fail_with(EXIT_BAD_USAGE, "no memory for buffers");
  check(net_register(&net, side->comm, side->buffer, options.max_bytes + GUARD, &side->memory), "regMr");
}

static void send_next(int number, struct side *side) {
  uint64_t message = message_of(number, options.rank, side->done);
  if (side->bytes == 0) {
    side->bytes = bytes_of(message);
    for (size_t i = 0; i < side->bytes; i++) side->buffer[i] = byte_at(message, i);
  }
  check(net_isend(&net, side->comm, side->buffer, side->bytes, side->done, side->memory, &side->request), "isend");
}

static void receive_next(int number, struct side *side) {
  side->bytes = bytes_of(message_of(number, 1 - options.rank, side->done));
  memset(side->buffer, GUARD_BYTE, side->bytes + GUARD);
  void *data = side->buffer;
  int tag = side->done;
  check(net_irecv(&net, side->comm, 1, &data, &side->bytes, &tag, &side->memory, &side->request), "irecv");
}

static void check_received(int number, struct side *side, int got) {
  uint64_t message = message_of(number, 1 - options.rank, side->done);
  if (got != (int)side->bytes)
    fail_with(EXIT_WRONG_DATA, "connection %d: %d bytes instead of %zu", number, got, side->bytes);
  for (size_t i = 0; i < side->bytes + GUARD; i++) {
    if (side->buffer[i] != (i < side->bytes ? byte_at(message, i) : GUARD_BYTE)) {
      fail_with(EXIT_WRONG_DATA, "connection %d: message %d of %zu bytes is wrong at %zu", number, side->done,
                side->bytes, i);
    }
  }
}

/* Whether it has more to do. */
static int turn(int number, struct side *side, int receives) {
  if (side->state != UP || side->done == options.messages) return 0;
  if (side->request == NULL) {
    if (receives) {
      receive_next(number, side);
    } else {
      send_next(number, side);
    }
    return 1;
  }
  int done = 0, got = -1;
  check(net_test(&net, side->request, &done, &got), "test");
  if (done) {
    if (receives) check_received(number, side, got);
    side->request = NULL;
    side->bytes = 0;
    side->done++;
    progress();
  }
  return 1;
}

static void move(int count) {
  for (int i = 0; i < count; i++) {
    if (links[i].send.state == UP) prepare(&links[i].send);
    if (links[i].receive.state == UP) prepare(&links[i].receive);
  }
  for (int left = 1; left > 0;) {
    left = 0;
    for (int i = 0; i < count; i++) left += turn(i, &links[i].send, 0) + turn(i, &links[i].receive, 1);
  }
}

static void close_side(struct side *side, int receives) {
  if (side->comm == NULL) return;
  if (side->memory != NULL) check(net_deregister(&net, side->comm, side->memory), "deregMr");
  check(receives ? net_close_receive(&net, side->comm) : net_close_send(&net, side->comm), "close");
  free(side->buffer);
  progress();
}

/* What a connection had goes soon after both ends have closed it, and is then gone in both processes. */
static void wait_until_gone(int before) {
  for (double start = now_seconds(); descriptors() > before && now_seconds() - start < GONE_SECONDS;) {
    progress();
    usleep(10000);
  }
}

int main(int argc, char **argv) {
  parse(argc, argv);
  if (options.open_files > 0) {
    struct rlimit limit = {(rlim_t)options.open_files, (rlim_t)options.open_files};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail_with(EXIT_BAD_USAGE, "RLIMIT_NOFILE: %s", strerror(errno));
  }
  watch_for_hang(options.timeout_seconds);
  char prefix[32];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  if (net_load(&net, options.plugin, options.abi, options.verbose ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  int count = options.connections + 1;
  double start = now_seconds();
  if (bring_up(0, 1) != 0) fail_with(EXIT_PLUGIN_ERROR, "not even one connection came up");
  report("first", 1, 0, now_seconds() - start);
  int opened_once = descriptors();
  start = now_seconds();
  int refused = bring_up(1, options.connections);
  report("up", options.connections, refused, now_seconds() - start);
  start = now_seconds();
  move(count);
  report("moved", options.connections, refused, now_seconds() - start);
  char byte = 1;
  tell("moved", 0, &byte, 1);
  hear("moved", 0, &byte, 1);
  start = now_seconds();
  for (int i = 0; i < count; i++) {
    close_side(&links[i].send, 0);
    close_side(&links[i].receive, 1);
  }
  report("closed", options.connections, refused, now_seconds() - start);
  tell("closed", 0, &byte, 1);
  hear("closed", 0, &byte, 1);
  start = now_seconds();
  wait_until_gone(opened_once);
  report("gone", options.connections, refused, now_seconds() - start);
  net_unload(&net);
  return 0;
}
