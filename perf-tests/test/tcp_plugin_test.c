/*
 * Tests of the TCP plugin with helper threads and data sockets, with both ends in one process. Every byte must arrive,
 * and the close of one end must be reported to the other. heddle-conformance tests the other guarantees in both modes.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/net_plugin.h"
#include "../src/report.h"

#define WANT(condition, ...) \
  do { \
    if (!(condition)) fail_with(EXIT_WRONG_DATA, __VA_ARGS__); \
  } while (0)

#define BIG (8u << 20)

static struct net_plugin net;

struct pair {
  void *listener, *sender, *receiver;
};

static void ask_for(const char *threads, const char *sockets) {
  setenv("NCCL_SOCKET_NTHREADS", threads, 1);
  setenv("NCCL_NSOCKS_PERTHREAD", sockets, 1);
}

/* Counts the entries of a folder of /proc/self: threads, or open files. */
static int count_of(const char *folder) {
  DIR *entries = opendir(folder);
  WANT(entries != NULL, "no %s", folder);
  int count = 0;
  while (readdir(entries) != NULL) count++;
  closedir(entries);
  return count;
}

static int threads_now(void) { return count_of("/proc/self/task"); }
static int files_now(void) { return count_of("/proc/self/fd"); }

/*
 * Waits until the process has this number of threads: a joined thread is listed until the kernel has reaped it. If that
 * never happens, the watch for hangs ends the test.
 */
static void await_threads(int count) {
  while (threads_now() != count) usleep(1000);
}

/* Number of the process's threads while no communicator exists. */
static int own_threads;

static void finish(struct pair *pair, void *handle) {
  while (pair->sender == NULL || pair->receiver == NULL) {
    if (pair->sender == NULL) check(net_connect(&net, 0, handle, &pair->sender), "connect");
    if (pair->receiver == NULL) check(net_accept(&net, pair->listener, &pair->receiver), "accept");
  }
}

static struct pair connected(void) {
  struct pair pair = {0};
  char handle[NET_HANDLE_BYTES];
  check(net_listen(&net, 0, handle, &pair.listener), "listen");
  finish(&pair, handle);
  return pair;
}

static void close_pair(struct pair *pair) {
  if (pair->sender != NULL) check(net_close_send(&net, pair->sender), "closeSend");
  if (pair->receiver != NULL) check(net_close_receive(&net, pair->receiver), "closeRecv");
  check(net_close_listen(&net, pair->listener), "closeListen");
}

static void *sent(struct pair *pair, void *data, size_t size) {
  void *request = NULL;
  check(net_isend(&net, pair->sender, data, size, 1, data, &request), "isend");
  WANT(request != NULL, "a send would block");
  return request;
}

static void *received(struct pair *pair, void *data, size_t size) {
  void *request = NULL;
  int tag = 1;
  check(net_irecv(&net, pair->receiver, 1, &data, &size, &tag, &data, &request), "irecv");
  WANT(request != NULL, "a receive would block");
  return request;
}

/* Tests a request until it is done or fails. Returns the result. */
static int outcome(void *request, int *size) {
  int done = 0, result = 0;
  while (!done && result == 0) result = net_test(&net, request, &done, size);
  progress();
  return result;
}

static unsigned char byte_at(size_t message, size_t place) {
  return (unsigned char)(place * 31 + place / 4099 + message);
}

/* Eight messages are in flight at once, so that tasks of several messages wait at each socket. */
static void messages_of_all_sizes_arrive_whole(void) {
  static const size_t sizes[] = {0, 1, 128, 129, 65535, 65536, 65537, 1u << 20, (1u << 20) + 1, BIG - 3, 300, 4u << 20};
  enum { SIZES = sizeof sizes / sizeof *sizes, AT_ONCE = 8, MESSAGES = 5 * SIZES };
  struct pair pair = connected();
  unsigned char *from[AT_ONCE], *to[AT_ONCE];
  void *sends[AT_ONCE], *receives[AT_ONCE];
  for (int i = 0; i < AT_ONCE; i++)
    WANT((from[i] = malloc(BIG)) != NULL && (to[i] = malloc(BIG + 1)) != NULL, "no memory");
  for (size_t message = 0; message < MESSAGES + AT_ONCE; message++) {
    size_t slot = message % AT_ONCE;
    if (message >= AT_ONCE) {
      size_t old = message - AT_ONCE, size = sizes[old % SIZES];
      int reported = -1;
      check(outcome(receives[slot], &reported), "test of a receive");
      WANT(reported == (int)size, "a message of %zu bytes is reported with %d", size, reported);
      check(outcome(sends[slot], NULL), "test of a send");
      for (size_t i = 0; i < size; i++) WANT(to[slot][i] == byte_at(old, i), "byte %zu of %zu is wrong", i, size);
      WANT(to[slot][size] == 0xee, "written behind a message of %zu bytes", size);
    }
    if (message >= MESSAGES) continue;
    size_t size = sizes[message % SIZES];
    for (size_t i = 0; i < size; i++) from[slot][i] = byte_at(message, i);
    memset(to[slot], 0xee, size + 1);
    receives[slot] = received(&pair, to[slot], BIG);
    sends[slot] = sent(&pair, from[slot], size);
  }
  for (int i = 0; i < AT_ONCE; i++) free(from[i]), free(to[i]);
  close_pair(&pair);
}

static void sender_that_closes_midway_fails_test(void) {
  struct pair pair = connected();
  char *from = calloc(1, 64 << 20), *to = malloc(64 << 20);
  sent(&pair, from, 64 << 20); /* more bytes than the sockets buffer without a reader */
  check(net_close_send(&net, pair.sender), "closeSend");
  pair.sender = NULL;
  void *receive = received(&pair, to, 64 << 20);
  WANT(outcome(receive, NULL) == 6, "a receive whose sender left is no remote error");
  close_pair(&pair);
  free(from), free(to);
}

static void receiver_that_closes_midway_fails_test(void) {
  struct pair pair = connected();
  char *from = calloc(1, 64 << 20);
  void *send = sent(&pair, from, 64 << 20);
  check(net_close_receive(&net, pair.receiver), "closeRecv");
  pair.receiver = NULL;
  WANT(outcome(send, NULL) == 6, "a send whose receiver left is no remote error");
  void *another = NULL;
  WANT(net_isend(&net, pair.sender, from, 1, 1, from, &another) == 6, "a failed communicator takes another send");
  close_pair(&pair);
  free(from);
}

static void threads_start_with_the_first_large_message_and_end_with_their_communicator(void) {
  int threads = own_threads, files = files_now();
  await_threads(threads);
  struct pair pair = connected();
  WANT(files_now() == files + 1 + 2 * 17, "%d files, not a listener and 17 sockets at either end", files_now() - files);
  char *from = calloc(1, BIG), *to = malloc(BIG);
  void *receive = received(&pair, to, BIG);
  check(outcome(sent(&pair, from, 128), NULL), "test of a send");
  check(outcome(receive, NULL), "test of a receive");
  WANT(threads_now() == threads, "threads for 128 bytes");
  received(&pair, to, BIG);
  sent(&pair, from, BIG);
  net_test(&net, received(&pair, to, BIG), &(int){0}, NULL);
  WANT(threads_now() >= threads + 2 && threads_now() <= threads + 4, "%d threads", threads_now() - threads);
  close_pair(&pair); /* closes with messages in flight */
  await_threads(threads);
  WANT(files_now() == files, "%d files are left", files_now() - files);
  free(from), free(to);
}

static void simultaneous_connections_to_one_listener_stay_separate(void) {
  enum { CONNECTIONS = 2 };
  int files = files_now();
  void *listener = NULL, *sends[CONNECTIONS], *receives[CONNECTIONS];
  char handles[CONNECTIONS][NET_HANDLE_BYTES], marks[CONNECTIONS] = {'a', 'b'}, seen[CONNECTIONS];
  struct pair pairs[CONNECTIONS] = {0};
  check(net_listen(&net, 0, handles[0], &listener), "listen");
  memcpy(handles[1], handles[0], sizeof handles[1]);
  while (pairs[0].sender == NULL || pairs[1].sender == NULL) {
    for (int i = 0; i < CONNECTIONS; i++) {
      if (pairs[i].sender == NULL) check(net_connect(&net, 0, handles[i], &pairs[i].sender), "connect");
    }
  }
  for (int i = 0; i < CONNECTIONS; i++) {
    while (pairs[i].receiver == NULL) check(net_accept(&net, listener, &pairs[i].receiver), "accept");
    sends[i] = sent(&pairs[i], &marks[i], 1);
  }
  for (int i = 0; i < CONNECTIONS; i++) check(outcome(received(&pairs[i], &seen[i], 1), NULL), "test of a mark");
  for (int i = 0; i < CONNECTIONS; i++) check(outcome(sends[i], NULL), "test of a mark");
  if (seen[0] == marks[1]) { /* accepts in the opposite order */
    void *swapped = pairs[0].receiver;
    pairs[0].receiver = pairs[1].receiver;
    pairs[1].receiver = swapped;
  }
  unsigned char *from[CONNECTIONS], *to[CONNECTIONS];
  for (int i = 0; i < CONNECTIONS; i++) {
    WANT((from[i] = malloc(BIG)) != NULL && (to[i] = calloc(1, BIG)) != NULL, "no memory");
    for (size_t k = 0; k < BIG; k++) from[i][k] = byte_at((size_t)i, k);
    sends[i] = sent(&pairs[i], from[i], BIG);
    receives[i] = received(&pairs[i], to[i], BIG);
  }
  for (int i = 0; i < CONNECTIONS; i++) {
    check(outcome(receives[i], NULL), "test of a receive");
    check(outcome(sends[i], NULL), "test of a send");
    WANT(memcmp(from[i], to[i], BIG) == 0, "bytes of connection %d are wrong", i);
    free(from[i]), free(to[i]);
    check(net_close_send(&net, pairs[i].sender), "closeSend");
    check(net_close_receive(&net, pairs[i].receiver), "closeRecv");
  }
  check(net_close_listen(&net, listener), "closeListen");
  WANT(files_now() == files, "%d files are left", files_now() - files);
}

static void closing_a_listener_closes_unaccepted_connections(void) {
  int files = files_now();
  struct pair pair = {0};
  char handle[NET_HANDLE_BYTES];
  check(net_listen(&net, 0, handle, &pair.listener), "listen");
  while (pair.sender == NULL) check(net_connect(&net, 0, handle, &pair.sender), "connect");
  close_pair(&pair);
  WANT(files_now() == files, "%d files are left", files_now() - files);
}

static void connecting_end_uses_the_listeners_settings(void) {
  struct pair pair = {0};
  char handle[NET_HANDLE_BYTES], byte = 7, there = 0;
  ask_for("0", "1");
  check(net_listen(&net, 0, handle, &pair.listener), "listen");
  ask_for("2", "8");
  int files = files_now();
  finish(&pair, handle);
  WANT(files_now() == files + 2, "%d sockets, not one at either end", files_now() - files);
  void *receive = received(&pair, &there, 1);
  check(outcome(sent(&pair, &byte, 1), NULL), "test of a send");
  check(outcome(receive, NULL), "test of a receive");
  WANT(there == 7, "a byte is wrong");
  close_pair(&pair);
}

static void malformed_and_too_large_numbers_are_refused(void) {
  static const char *const wrong[][2] = {{"17", "1"}, {"-1", "1"}, {"two", "1"}, {"", "1"}, {"2", "0"}, {"16", "8"}};
  void *listener = NULL;
  char handle[NET_HANDLE_BYTES];
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ask_for(wrong[i][0], wrong[i][1]);
    WANT(net_listen(&net, 0, handle, &listener) == 5, "%s threads of %s sockets were taken", wrong[i][0], wrong[i][1]);
  }
  ask_for("2", "8");
}

int main(int argc, char **argv) {
  if (argc != 2) fail_with(EXIT_BAD_USAGE, "tcp-plugin-test PLUGIN");
  watch_for_hang(30);
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  ask_for("2", "8");
  own_threads = threads_now();
  check(net_load(&net, argv[1], 0, NULL), "load");
  messages_of_all_sizes_arrive_whole();
  sender_that_closes_midway_fails_test();
  receiver_that_closes_midway_fails_test();
  threads_start_with_the_first_large_message_and_end_with_their_communicator();
  simultaneous_connections_to_one_listener_stay_separate();
  closing_a_listener_closes_unaccepted_connections();
  connecting_end_uses_the_listeners_settings();
  malformed_and_too_large_numbers_are_refused();
  net_unload(&net);
  return 0;
}
