/*
 * One of several ranks with many connections to each other, equally many in each direction. The ranks set them up in
 * parallel, as NCCL does: each connection has a listener, and the calls for all connections alternate. Then messages go
 * over all connections at once, with every byte checked, and all connections are closed. The cost is reported in lines
 * of JSON: time, descriptors, threads, resident memory, and CPU time while idle.
 *
 * The first connection with each rank is made before the others and isn't counted: it opens resources that a process
 * needs only once.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command_line.h"
#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"

#define MOST_CONNECTIONS 4096 /* maximum number of a rank's connections in each direction */
#define MOST_RANKS 64
#define GONE_SECONDS 10.0
#define GUARD 64
#define GUARD_BYTE 0x5a

static struct {
  const char *plugin, *folder;
  int rank, ranks, abi, connections, messages, may_refuse, open_files, verbose;
  size_t max_bytes;
  double timeout_seconds, idle_seconds;
} options = {.rank = -1, .ranks = 2, .connections = 64, .messages = 10, .max_bytes = 65536, .timeout_seconds = 60};

enum side_state { BEGUN, UP, REFUSED };

/* One direction of a connection: this rank's sending or receiving end. */
struct side {
  enum side_state state;
  void *comm, *memory, *request;
  unsigned char *buffer;
  size_t bytes; /* bytes of the message in flight */
  int done;     /* number of finished messages */
};

struct link {
  char handle[NET_HANDLE_BYTES]; /* handle of the peer's listener */
  void *listener;
  struct side send, receive;
};

static struct net_plugin net;
static struct link links[MOST_CONNECTIONS + MOST_RANKS];

static void usage(FILE *to) {
  fprintf(to,
          "heddle-connections: one of several ranks with many connections to each other, every byte of their traffic "
          "checked\n"
          "  --plugin FILE --rendezvous FOLDER --rank R   required; the folder must be empty\n"
          "  --ranks N              from 2 on (2)\n"
          "  --connections N        in each direction with each other rank, besides a first one (64)\n"
          "  --messages N           on each of them in each direction (10)\n"
          "  --max-bytes B          largest message (65536)\n"
          "  --idle-seconds S       measure the idle process, a second after the traffic (0)\n"
          "  --open-files N         limit this process's descriptors, soft and hard\n"
          "  --may-refuse           count connections that are refused, and use the others\n"
          "  --timeout-seconds S    time without progress after which the process ends with exit code 4 (60)\n"
          "  --abi V                version of the plugin's interface, 6 to 12 (the newest it has)\n"
          "  --verbose              print the plugin's log on standard error\n"
          "exit codes: 0 every byte right, 1 wrong bytes, 2 bad usage, 3 a call failed that must not, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, MOST_RANKS - 1, NULL},
      {"ranks", OPTION_INT, &options.ranks, 2, MOST_RANKS, NULL},
      {"connections", OPTION_INT, &options.connections, 1, MOST_CONNECTIONS, NULL},
      {"messages", OPTION_INT, &options.messages, 1, 1000000, NULL},
      {"max-bytes", OPTION_SIZE, &options.max_bytes, 1, 64 << 20, NULL},
      {"idle-seconds", OPTION_SECONDS, &options.idle_seconds, 0, 3600, NULL},
      {"open-files", OPTION_INT, &options.open_files, 16, 1 << 20, NULL},
      {"may-refuse", OPTION_ON, &options.may_refuse, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"abi", OPTION_INT, &options.abi, 6, 12, NULL},
      {"verbose", OPTION_ON, &options.verbose, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0) bad_usage(usage);
  if (options.rank >= options.ranks || options.connections > MOST_CONNECTIONS / (options.ranks - 1)) bad_usage(usage);
  if (options.idle_seconds >= options.timeout_seconds) bad_usage(usage);
}

/* ---- the topology: a rank's links go to the next ranks in turn ---- */

static int peers(void) { return options.ranks - 1; }

static int peer_of(int link) { return (options.rank + 1 + link % peers()) % options.ranks; }

/* Returns the number that this link's connection has among the peer's links. */
static int partner_of(int link) { return link - link % peers() + (peers() - 1 - link % peers()); }

/* ---- the process's resources ---- */

/* Returns the number of entries of a folder, or `none` if the folder can't be read. */
static int entries(const char *path, int none) {
  DIR *folder = opendir(path);
  if (folder == NULL) return none;
  int count = 0;
  for (struct dirent *each = readdir(folder); each != NULL; each = readdir(folder)) count += each->d_name[0] != '.';
  closedir(folder);
  return count;
}

/*
 * Returns the number of open descriptors, except the one used for counting. If that one can't be opened, returns the
 * limit.
 */
static int descriptors(void) { return entries("/proc/self/fd", options.open_files + 1) - 1; }

static double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void report(const char *event, int connections, int refused, double seconds, double processor) {
  printf("{\"event\":\"%s\",\"rank\":%d,\"connections\":%d,\"refused\":%d,\"seconds\":%.6f,\"processor_seconds\":%.6f,"
         "\"descriptors\":%d,\"threads\":%d,\"resident_kib\":%ld}\n",
         event, options.rank, connections, refused, seconds, processor, descriptors(), entries("/proc/self/task", 0),
         net_resident_kib());
  fflush(stdout);
}

struct stage {
  double began, processor;
};

static struct stage begin(void) { return (struct stage){now_seconds(), processor_seconds()}; }

static void end(const struct stage *stage, const char *event, int connections, int refused) {
  report(event, connections, refused, now_seconds() - stage->began, processor_seconds() - stage->processor);
}

/* ---- set-up ---- */

static void put(const char *name, int first, const void *bytes, size_t size) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%d", name, first);
  if (rendezvous_put(options.folder, whole, options.rank, bytes, size) != 0) exit(EXIT_BAD_USAGE);
}

static void get(const char *name, int first, int peer, void *bytes, size_t size) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%d", name, first);
  progress();
  if (rendezvous_get(options.folder, whole, peer, bytes, size, options.timeout_seconds) != 0) {
    fail_with(EXIT_TIMED_OUT, "rank %d did not come", peer);
  }
}

static int has_sent_handle(const char *name, int first, int peer) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%d.%d", options.folder, name, first, peer);
  return access(path, R_OK) == 0;
}

/*
 * Sends `size` bytes for each of these links to the link's other end, and replaces them by the bytes received from
 * there.
 */
static void exchange(const char *name, int first, int count, char *each, size_t size) {
  size_t whole = (size_t)count * size;
  put(name, first, each, whole);
  char *theirs = malloc(whole);
  if (theirs == NULL) fail_with(EXIT_BAD_USAGE, "no memory");
  for (int peer = 0; peer < peers(); peer++) {
    get(name, first, peer_of(first + peer), theirs, whole);
    for (int i = peer; i < count; i += peers()) {
      memcpy(each + (size_t)i * size, theirs + (size_t)(partner_of(first + i) - first) * size, size);
    }
  }
  free(theirs);
}

/* Waits until all ranks have called this. */
static void barrier(const char *name) {
  char here = 1;
  put(name, 0, &here, 1);
  for (int peer = 0; peer < peers(); peer++) get(name, 0, peer_of(peer), &here, 1);
}

static void record_result(struct side *side, int result, const char *call) {
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

/* Listens on all links. The handle of a failed listener is all zeros, so that the other end doesn't connect. */
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
  exchange("handles", first, count, handles, NET_HANDLE_BYTES);
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

/* Marks accepts as refused, instead of waiting for them, if the other end has reported that it doesn't connect. */
static void mark_refused_accepts(int first, int count, char *heard) {
  static char called[MOST_CONNECTIONS + MOST_RANKS];
  for (int peer = 0; peer < peers(); peer++) {
    if (heard[peer] || !has_sent_handle("connected", first, peer_of(first + peer))) continue;
    get("connected", first, peer_of(first + peer), called, (size_t)count);
    heard[peer] = 1;
    for (int i = peer; i < count; i += peers()) {
      struct side *receive = &links[first + i].receive;
      if (!called[partner_of(first + i) - first] && receive->state == BEGUN) receive->state = REFUSED;
    }
  }
}

/* Connects all links: calls every connect and accept in turn until each has ended. */
static void connect_all(int first, int count) {
  static char mine[MOST_CONNECTIONS + MOST_RANKS];
  char heard[MOST_RANKS] = {0};
  int is_sent = 0;
  for (int left = 1; left != 0;) {
    left = 0;
    int begun = 0;
    for (struct link *link = &links[first]; link < &links[first + count]; link++) {
      if (link->send.state == BEGUN)
        record_result(&link->send, net_connect(&net, 0, link->handle, &link->send.comm), "connect");
      if (link->receive.state == BEGUN) {
        record_result(&link->receive, net_accept(&net, link->listener, &link->receive.comm), "accept");
      }
      if (link->receive.state != BEGUN) close_listener(link);
      begun += link->send.state == BEGUN;
      left += link->receive.state == BEGUN;
    }
    if (begun == 0 && !is_sent) {
      for (int i = 0; i < count; i++) mine[i] = links[first + i].send.state == UP;
      put("connected", first, mine, (size_t)count);
      is_sent = 1;
    }
    if (left > 0 && options.may_refuse) mark_refused_accepts(first, count, heard);
    left += begun;
    if (left > 0) usleep(100);
  }
}

/* Keeps a direction of a link only if it is up at both ends. Returns the number of directions that aren't kept. */
static int exchange_counts(int first, int count) {
  char *states = calloc((size_t)count, 2);
  int refused = 0;
  for (int i = 0; i < count; i++) {
    states[2 * i] = links[first + i].receive.state == UP;
    states[2 * i + 1] = links[first + i].send.state == UP;
  }
  exchange("states", first, count, states, 2);
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
  return exchange_counts(first, count);
}

/* ---- traffic ---- */

static uint64_t mixed(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

/* Returns a seed that both ends can compute: from the sender's link, the sender's rank and the message's number. */
static uint64_t message_of(int link, int sender, int number) {
  return mixed(((uint64_t)link * MOST_RANKS + (uint64_t)sender) * 1000003u + (uint64_t)number + 1);
}

static uint64_t message_to(int link, int number) { return message_of(partner_of(link), peer_of(link), number); }

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
  side->bytes = bytes_of(message_to(number, side->done));
  memset(side->buffer, GUARD_BYTE, side->bytes + GUARD);
  void *data = side->buffer;
  int tag = side->done;
  check(net_irecv(&net, side->comm, 1, &data, &side->bytes, &tag, &side->memory, &side->request), "irecv");
}

static void check_received(int number, struct side *side, int got) {
  uint64_t message = message_to(number, side->done);
  if (got != (int)side->bytes)
    fail_with(EXIT_WRONG_DATA, "connection %d: %d bytes instead of %zu", number, got, side->bytes);
  for (size_t i = 0; i < side->bytes + GUARD; i++) {
    if (side->buffer[i] != (i < side->bytes ? byte_at(message, i) : GUARD_BYTE)) {
      fail_with(EXIT_WRONG_DATA, "connection %d: message %d of %zu bytes is wrong at %zu", number, side->done,
                side->bytes, i);
    }
  }
}

static int moved; /* whether this pass over all links has made progress */

/* Advances one side of a link. Returns whether it has more to do. */
static int progress_side(int number, struct side *side, int receives) {
  if (side->state != UP || side->done == options.messages) return 0;
  if (side->request == NULL) {
    if (receives) {
      receive_next(number, side);
    } else {
      send_next(number, side);
    }
    moved |= side->request != NULL;
    return 1;
  }
  int done = 0, got = -1;
  check(net_test(&net, side->request, &done, &got), "test");
  if (done) {
    if (receives) check_received(number, side, got);
    side->request = NULL;
    side->bytes = 0;
    side->done++;
    moved = 1;
    progress();
  }
  return 1;
}

static void prepare_all(int count) {
  for (int i = 0; i < count; i++) {
    if (links[i].send.state == UP) prepare(&links[i].send);
    if (links[i].receive.state == UP) prepare(&links[i].receive);
  }
}

static void move(int count) {
  for (int left = 1; left > 0;) {
    left = moved = 0;
    for (int i = 0; i < count; i++)
      left += progress_side(i, &links[i].send, 0) + progress_side(i, &links[i].receive, 1);
    if (!moved) sched_yield(); /* yields as NCCL's progress thread does */
  }
}

static void close_side(struct side *side, int receives) {
  if (side->comm == NULL) return;
  if (side->memory != NULL) check(net_deregister(&net, side->comm, side->memory), "deregMr");
  check(receives ? net_close_receive(&net, side->comm) : net_close_send(&net, side->comm), "close");
  free(side->buffer);
  progress();
}

/*
 * Waits until the connections' resources are freed in this process, which happens soon after both ends have closed
 * them.
 */
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
  struct stage stage = begin();
  end(&stage, "begun", 0, 0);
  char prefix[32];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  if (net_load(&net, options.plugin, options.abi, options.verbose ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  int first = peers(), more = options.connections * peers(), count = first + more;
  if (bring_up(0, first) != 0) fail_with(EXIT_PLUGIN_ERROR, "not even one connection came up");
  end(&stage, "first", first, 0);
  int opened_once = descriptors();
  stage = begin();
  int refused = bring_up(first, more);
  end(&stage, "up", more, refused);
  prepare_all(count);
  barrier("prepared");
  stage = begin();
  move(count);
  end(&stage, "moved", more, refused);
  barrier("moved");
  if (options.idle_seconds > 0) {
    sleep(1); /* gives the plugin's threads time to finish the work of the traffic */
    stage = begin();
    usleep((useconds_t)(options.idle_seconds * 1e6));
    end(&stage, "idle", more, refused);
    barrier("idle");
  }
  stage = begin();
  for (int i = 0; i < count; i++) {
    close_side(&links[i].send, 0);
    close_side(&links[i].receive, 1);
  }
  end(&stage, "closed", more, refused);
  barrier("closed");
  stage = begin();
  wait_until_gone(opened_once);
  end(&stage, "gone", more, refused);
  net_unload(&net);
  return 0;
}
