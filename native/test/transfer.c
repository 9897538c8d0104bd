/* Sends messages from a device to itself through the plugin's tables, as NCCL's two ends would. */
#include "harness.h"

enum { LARGEST = (4 << 20) + 3, GUARD = 64, PATIENCE_S = 20, OUTSTANDING = 32 };

static const struct nccl_net_v12 *net;
static void *context;

static long deadline;

static void start_waiting(void) { deadline = now_us() + PATIENCE_S * 1000000L; }

static void keep_waiting(const char *what) { CHECK(now_us() < deadline, "%s took more than %d s", what, PATIENCE_S); }

struct pair {
  void *listen;
  void *send;
  void *receive;
  unsigned char *source;
  unsigned char *target;
  void *source_handle;
  void *target_handle;
};

static void connect_pair(struct pair *pair, void *listen, const char *handle) {
  char buffer[128];
  memcpy(buffer, handle, sizeof buffer); /* connect keeps each connection's state in its buffer */
  start_waiting();
  pair->listen = listen;
  pair->send = NULL;
  pair->receive = NULL;
  while (pair->send == NULL || pair->receive == NULL) {
    int result = NCCL_SUCCESS;
    if (pair->send == NULL) {
      result = net->connect(context, 0, buffer, &pair->send, NULL);
    }
    CHECK(result == NCCL_SUCCESS, "connect returned %d", result);
    if (pair->receive == NULL) {
      result = net->accept(listen, &pair->receive, NULL);
    }
    CHECK(result == NCCL_SUCCESS, "accept returned %d", result);
    keep_waiting("the connection");
  }
  pair->source = malloc(LARGEST + GUARD);
  pair->target = malloc(LARGEST + GUARD);
  int result = net->reg(pair->send, pair->source, LARGEST + GUARD, 1, &pair->source_handle);
  CHECK(result == NCCL_SUCCESS && pair->source_handle != NULL, "regMr returned %d", result);
  result = net->reg(pair->receive, pair->target, LARGEST + GUARD, 1, &pair->target_handle);
  CHECK(result == NCCL_SUCCESS && pair->target_handle != NULL, "regMr returned %d", result);
}

static void close_pair(struct pair *pair) {
  CHECK(net->dereg(pair->send, pair->source_handle) == NCCL_SUCCESS, "deregMr failed");
  CHECK(net->dereg(pair->receive, pair->target_handle) == NCCL_SUCCESS, "deregMr failed");
  CHECK(net->close_send(pair->send) == NCCL_SUCCESS, "closeSend failed");
  CHECK(net->close_receive(pair->receive) == NCCL_SUCCESS, "closeRecv failed");
  free(pair->source);
  free(pair->target);
}

static void *listen_on(char *handle) {
  void *listen = NULL;
  memset(handle, 0, 128);
  int result = net->listen(context, 0, handle, &listen);
  CHECK(result == NCCL_SUCCESS && listen != NULL, "listen returned %d", result);
  return listen;
}

/* Returns a reproducible byte that differs for each message. */
static unsigned char pattern(unsigned message, size_t i) {
  return (unsigned char)(message * 31 + i * 7 + (i >> 8) * 13 + (i >> 16));
}

static void *try_receive(struct pair *pair, int n, size_t *sizes, int *tags, size_t *offsets) {
  void *data[8];
  void *handles[8];
  for (int i = 0; i < n; i++) {
    data[i] = pair->target + offsets[i];
    handles[i] = pair->target_handle;
  }
  void *request = (void *)0x1;
  int result = net->irecv(pair->receive, n, data, sizes, tags, handles, NULL, &request);
  CHECK(result == NCCL_SUCCESS, "irecv returned %d", result);
  return request;
}

static void *try_send(struct pair *pair, size_t offset, size_t size, int tag) {
  void *request = (void *)0x1234;
  int result = net->isend(pair->send, pair->source + offset, size, tag, pair->source_handle, NULL, &request);
  CHECK(result == NCCL_SUCCESS, "isend returned %d", result);
  return request;
}

/* Tests a request once. Sets it to NULL when it is done. */
static void finish(void **request, int *sizes) {
  int done = 0;
  int result = net->test(*request, &done, sizes);
  CHECK(result == NCCL_SUCCESS, "test returned %d", result);
  if (done) {
    *request = NULL;
  }
}

static void one_message(struct pair *pair, unsigned message, size_t sent, size_t room) {
  for (size_t i = 0; i < sent; i++) {
    pair->source[i] = pattern(message, i);
  }
  memset(pair->target, 0xee, room + GUARD);
  size_t sizes[1] = {room};
  size_t offsets[1] = {0};
  int tags[1] = {(int)message};
  int received = -1;
  int reported = -1;
  void *send = NULL;
  void *receive = NULL;
  bool send_posted = false;
  bool receive_posted = false;
  start_waiting();
  while (!send_posted || !receive_posted || send != NULL || receive != NULL) {
    if (!receive_posted && (receive = try_receive(pair, 1, sizes, tags, offsets)) != NULL) {
      receive_posted = true;
    }
    if (!send_posted && (send = try_send(pair, 0, sent, (int)message)) != NULL) {
      send_posted = true;
    }
    if (receive != NULL) {
      finish(&receive, &received);
    }
    if (send != NULL) {
      finish(&send, &reported);
    }
    keep_waiting("a message");
  }
  CHECK(received == (int)sent && reported == (int)sent, "%zu bytes sent, %d received, %d reported to the sender", sent,
        received, reported);
  for (size_t i = 0; i < sent; i++) {
    CHECK(pair->target[i] == pattern(message, i), "byte %zu of %zu is wrong", i, sent);
  }
  for (size_t i = sent; i < room + GUARD; i++) {
    CHECK(pair->target[i] == 0xee, "byte %zu behind a message of %zu was written", i, sent);
  }
}

static void sizes_and_shorter_sends(struct pair *pair) {
  static const size_t SIZES[] = {0, 1, 8, 127, 128, 129, 4095, 4096, 61439, 61440, 61441, 65537, 1 << 20, LARGEST};
  unsigned message = 0;
  for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
    one_message(pair, message++, SIZES[i], SIZES[i]);
    if (SIZES[i] < LARGEST) {
      one_message(pair, message++, SIZES[i], LARGEST);
    }
  }
  for (int i = 0; i < 600; i++) { /* passes the end of the ring of 256 slots twice */
    one_message(pair, message++, (size_t)(i * 37 % 3000), 4096);
  }
}

/*
 * Matches one receive with eight buffers to eight sends, whose tags are in another order and some of which are empty.
 */
static void grouped_receive(struct pair *pair) {
  enum { N = 8, ROOM = 100000 };
  size_t sizes[N];
  size_t offsets[N];
  int tags[N];
  for (int i = 0; i < N; i++) {
    sizes[i] = ROOM;
    offsets[i] = (size_t)i * ROOM;
    tags[i] = 100 + i;
  }
  memset(pair->target, 0xee, (size_t)N * ROOM);
  void *receive = NULL;
  start_waiting();
  while ((receive = try_receive(pair, N, sizes, tags, offsets)) == NULL) {
    keep_waiting("a grouped receive");
  }
  void *sends[N] = {NULL};
  int received[N] = {0};
  for (int step = 0; step < N; step++) {
    int i = (step * 5 + 3) % N;
    size_t size = i % 3 == 0 ? 0 : (size_t)i * 9999;
    for (size_t at = 0; at < size; at++) {
      pair->source[offsets[i] + at] = pattern((unsigned)i, at);
    }
    while ((sends[i] = try_send(pair, offsets[i], size, tags[i])) == NULL) {
      keep_waiting("a send of a group");
    }
  }
  for (int left = N + 1; left > 0;) {
    left = 0;
    for (int i = 0; i < N; i++) {
      if (sends[i] != NULL) {
        finish(&sends[i], NULL);
      }
      left += sends[i] != NULL;
    }
    if (receive != NULL) {
      finish(&receive, received);
    }
    left += receive != NULL;
    keep_waiting("a group");
  }
  for (int i = 0; i < N; i++) {
    size_t size = i % 3 == 0 ? 0 : (size_t)i * 9999;
    CHECK(received[i] == (int)size, "receive %d of the group got %d bytes of %zu", i, received[i], size);
    for (size_t at = 0; at < size; at++) {
      CHECK(pair->target[offsets[i] + at] == pattern((unsigned)i, at), "receive %d, byte %zu is wrong", i, at);
    }
  }
}

/* Keeps as many requests outstanding as NCCL does. Tests the newest request first, which NCCL may do too. */
static void many_outstanding(struct pair *pair) {
  enum { SIZE = 5000 };
  void *receives[OUTSTANDING];
  void *sends[OUTSTANDING] = {NULL};
  size_t size[1] = {SIZE};
  int tag[1] = {7};
  start_waiting();
  for (int i = 0; i < OUTSTANDING; i++) {
    size_t offset[1] = {(size_t)i * SIZE};
    while ((receives[i] = try_receive(pair, 1, size, tag, offset)) == NULL) {
      keep_waiting("a receive of many");
    }
    for (size_t at = 0; at < SIZE; at++) {
      pair->source[(size_t)i * SIZE + at] = pattern((unsigned)i, at);
    }
  }
  for (int i = 0; i < OUTSTANDING; i++) {
    while ((sends[i] = try_send(pair, (size_t)i * SIZE, SIZE, 7)) == NULL) {
      keep_waiting("a send of many");
    }
  }
  for (int left = 1; left > 0;) {
    left = 0;
    for (int i = OUTSTANDING - 1; i >= 0; i--) {
      if (receives[i] != NULL) {
        finish(&receives[i], NULL);
      }
      if (sends[i] != NULL) {
        finish(&sends[i], NULL);
      }
      left += (receives[i] != NULL) + (sends[i] != NULL);
    }
    keep_waiting("many messages");
  }
  for (int i = 0; i < OUTSTANDING; i++) {
    for (size_t at = 0; at < SIZE; at++) {
      CHECK(pair->target[(size_t)i * SIZE + at] == pattern((unsigned)i, at), "message %d, byte %zu is wrong", i, at);
    }
  }
}

int main(void) {
  net = table_v12(load());
  context = init_v12(net, 1);
  use_v12(net);
  char handle[128];
  void *listen = listen_on(handle);
  struct pair first;
  struct pair second;
  connect_pair(&first, listen, handle);
  connect_pair(&second, listen, handle); /* one listener may serve several accepts */
  sizes_and_shorter_sends(&first);
  grouped_receive(&first);
  grouped_receive(&second);
  many_outstanding(&second);
  one_message(&first, 1, 1000, 1000);
  /* NCCL closes with requests in flight when it aborts. */
  size_t size[1] = {1000};
  size_t offset[1] = {0};
  int tag[1] = {1};
  start_waiting();
  while (try_receive(&second, 1, size, tag, offset) == NULL) {
    keep_waiting("the receive that is left open");
  }
  try_send(&second, 0, 1000, 1);
  close_pair(&second);
  one_message(&first, 2, 1000, 1000);
  close_pair(&first);
  CHECK(net->close_listen(listen) == NCCL_SUCCESS, "closeListen failed");
  CHECK(net->finalize(context) == NCCL_SUCCESS, "finalize failed");
  CHECK(warnings == 0, "%d warnings", warnings);
  printf("ok: messages, groups, many outstanding, closed in flight; resident %ld MiB\n", status_kib("VmRSS") / 1024);
  return 0;
}
