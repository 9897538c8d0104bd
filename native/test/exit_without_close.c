/*
 * A program returns from main with its last messages in flight, and closes nothing. Its peer must get every byte.
 * Senders are separate processes, one after the other; one receiver serves them all.
 *
 * Usage: exit_without_close [ROUNDS [BUSY]]: ROUNDS senders (12), beside BUSY busy processes (0).
 */
#include "harness.h"
#include "waiting.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { CONNECTIONS = 3, MESSAGES = 4, LARGEST = (2 << 20) + 3, LONGEST_END_US = 1000000 };

/*
 * Largest slowdown by other processes that the test allows. If senders have too little time, up to this many times as
 * many senders run.
 */
enum { MOST_SLOWDOWN = 8 };

static const size_t SIZES[MESSAGES] = {LARGEST, 100000, 1, 300000};

enum kind {
  COMPLETED, /* the process exits after test has reported every send done */
  POSTED,    /* the process exits after isend has accepted every send */
  TRIED,     /* the process exits while a thread still tries to send, since the receives come later */
  ELSEWHERE, /* a thread other than the one that drives the plugin calls exit */
  KINDS
};

static const char *const NAMES[KINDS] = {"completed", "posted", "tried", "by another thread"};

/* Memory that the processes share. */
struct shared {
  atomic_int round, listens, sender_leaves, received, receives_posted;
  /* round in which the sender logged that it ended, after a second, before all messages were delivered */
  atomic_int gave_up;
  atomic_int not_taken; /* total number of messages that a thread still tried to send when its process ended */
  atomic_long left_us, ended_us, left_stalled_us, ended_stalled_us;
  atomic_int threads_at_end;
  atomic_uint sent[CONNECTIONS]; /* number of messages that isend accepted */
  char handle[128];
  char sender_reported[sizeof logged];
};

static struct shared *shared;
static pid_t run; /* pid of the first process */
static const struct nccl_net_v12 *net;
static void *context;

static unsigned char pattern(unsigned message, size_t i) {
  return (unsigned char)(message * 31 + i * 7 + (i >> 8) * 13 + (i >> 16));
}

/*
 * Opens the plugin on four loopback addresses. Each end has its own addresses, as on two hosts, and each run of this
 * program uses different addresses. first: last byte of the addresses, less the plane's number.
 */
static void open_plugin(int first) {
  char planes[128];
  size_t used = 0;
  for (int plane = 1; plane <= 4; plane++) {
    used += (size_t)snprintf(planes + used, sizeof planes - used, "%s127.%d.%d.%d=%d", plane == 1 ? "" : ",",
                             64 + (run >> 8) % 64, run % 256, first + plane, plane);
  }
  setenv("HEDDLE_PLANES", planes, 1);
  net = table_v12(load());
  context = init_v12(net, 1);
  use_v12(net);
}

struct end {
  void *comm;
  unsigned char *data[MESSAGES];
  void *memory[MESSAGES];
  void *request[MESSAGES];
};

static void prepare(struct end *end, unsigned seed, bool sends) {
  for (unsigned m = 0; m < MESSAGES; m++) {
    end->data[m] = malloc(SIZES[m]);
    end->request[m] = NULL;
    for (size_t i = 0; i < SIZES[m]; i++) {
      end->data[m][i] = sends ? pattern(seed * MESSAGES + m, i) : 0xee;
    }
    int result = net->reg(end->comm, end->data[m], SIZES[m], 1, &end->memory[m]);
    CHECK(result == NCCL_SUCCESS, "regMr returned %d", result);
  }
}

/* ---- the receiver ---- */

/*
 * Returns whether an error is allowed for a message: isend never accepted it, or the sender reported it as undelivered.
 */
static bool may_be_missing(int round, unsigned m, int c) {
  return atomic_load(&shared->gave_up) == round || m >= atomic_load(&shared->sent[c]);
}

static void receive(struct end *end, int round, unsigned m, int c) {
  size_t size = SIZES[m];
  int tag = (int)m;
  while (end->request[m] == NULL) {
    int result = net->irecv(end->comm, 1, (void **)&end->data[m], &size, &tag, &end->memory[m], NULL, &end->request[m]);
    if (result != NCCL_SUCCESS && may_be_missing(round, m, c)) {
      return;
    }
    CHECK(result == NCCL_SUCCESS, "round %d: irecv returned %d", round, result);
    keep_waiting("irecv");
  }
}

/* Returns false if the message is missing and this is allowed. */
static bool finish(void *request, int round, unsigned m, int c) {
  int done = 0;
  int size = -1;
  while (!done) {
    int result = net->test(request, &done, &size);
    if (result != NCCL_SUCCESS && may_be_missing(round, m, c)) {
      atomic_fetch_add(&shared->not_taken, atomic_load(&shared->gave_up) != round);
      return false;
    }
    CHECK(result == NCCL_SUCCESS, "round %d: message %u of connection %d: test returned %d", round, m, c, result);
    keep_waiting("a message");
  }
  CHECK(size == (int)SIZES[m], "round %d: message %u has %d bytes of %zu", round, m, size, SIZES[m]);
  return true;
}

static void serve(int round, bool late) {
  struct end ends[CONNECTIONS];
  forget_log();
  void *listen = NULL;
  int result = net->listen(context, 0, shared->handle, &listen);
  CHECK(result == NCCL_SUCCESS, "listen returned %d", result);
  atomic_store(&shared->listens, round);
  start_waiting();
  for (int c = 0; c < CONNECTIONS; c++) {
    ends[c].comm = NULL;
    while (ends[c].comm == NULL) {
      result = net->accept(listen, &ends[c].comm, NULL);
      CHECK(result == NCCL_SUCCESS, "accept returned %d", result);
      keep_waiting("accept");
    }
    prepare(&ends[c], (unsigned)(round * CONNECTIONS + c), false);
  }
  if (late) {
    wait_for(&shared->sender_leaves, round, "the sender's return from main");
  }
  start_waiting();
  for (int c = 0; c < CONNECTIONS; c++) {
    for (unsigned m = 0; m < MESSAGES; m++) {
      receive(&ends[c], round, m, c);
    }
  }
  atomic_store(&shared->receives_posted, round);
  for (int c = 0; c < CONNECTIONS; c++) {
    for (unsigned m = 0; m < MESSAGES; m++) {
      bool delivered = ends[c].request[m] != NULL && finish(ends[c].request[m], round, m, c);
      for (size_t i = 0; delivered && i < SIZES[m]; i++) {
        CHECK(ends[c].data[m][i] == pattern((unsigned)(round * CONNECTIONS + c) * MESSAGES + m, i),
              "round %d: message %u, byte %zu is wrong", round, m, i);
      }
      CHECK(net->dereg(ends[c].comm, ends[c].memory[m]) == NCCL_SUCCESS, "deregMr failed");
      free(ends[c].data[m]);
    }
    CHECK(net->close_receive(ends[c].comm) == NCCL_SUCCESS, "closeRecv failed");
  }
  CHECK(net->close_listen(listen) == NCCL_SUCCESS, "closeListen failed");
  atomic_store(&shared->received, round);
}

/* Receives the messages of each round that shared->round announces, until this number is negative. */
static int be_receiver(void) {
  open_plugin(10);
  for (int last = 0;;) {
    int round = atomic_load(&shared->round);
    if (round < 0) return 0;
    if (round > last) {
      last = round;
      serve(round, round % KINDS == TRIED);
    }
    usleep(500);
  }
}

/* ---- the sender ---- */

static struct end sending[CONNECTIONS];

/*
 * Records the end of the sender. This exit handler is registered before the plugin is loaded, so it runs after the
 * plugin's handler.
 */
static void record_end(void) {
  atomic_store(&shared->ended_us, now_us());
  atomic_store(&shared->ended_stalled_us, stalled_us());
  if (strstr(logged, "the process ends though") != NULL) { /* Java or C logs this line */
    atomic_store(&shared->gave_up, atomic_load(&shared->round));
  }
  snprintf(shared->sender_reported, sizeof shared->sender_reported, "%s", logged);
  int threads = -1;
  FILE *status = fopen("/proc/self/status", "re");
  char line[128];
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    sscanf(line, "Threads: %d", &threads);
  }
  atomic_store(&shared->threads_at_end, threads);
}

static void record_exit(int round) {
  atomic_store(&shared->left_stalled_us, stalled_us());
  atomic_store(&shared->left_us, now_us());
  atomic_store(&shared->sender_leaves, round);
}

static atomic_bool has_tried; /* whether the thread has tried to send on every connection */

static bool send_next(int c) {
  unsigned m = atomic_load(&shared->sent[c]);
  struct end *end = &sending[c];
  int result = net->isend(end->comm, end->data[m], SIZES[m], (int)m, end->memory[m], NULL, &end->request[m]);
  CHECK(result == NCCL_SUCCESS, "isend returned %d", result);
  if (end->request[m] != NULL) {
    atomic_store(&shared->sent[c], m + 1);
  }
  return end->request[m] != NULL;
}

static void send_all(bool finish) {
  start_waiting();
  for (int left = CONNECTIONS * MESSAGES; left > 0;) {
    for (int c = 0; c < CONNECTIONS; c++) {
      left -= atomic_load(&shared->sent[c]) < MESSAGES && send_next(c);
    }
    atomic_store(&has_tried, true);
    keep_waiting("isend");
  }
  for (int c = 0; finish && c < CONNECTIONS; c++) {
    for (unsigned m = 0; m < MESSAGES; m++) {
      for (int done = 0; !done;) {
        int result = net->test(sending[c].request[m], &done, NULL);
        CHECK(result == NCCL_SUCCESS, "test of a send returned %d", result);
        keep_waiting("a send");
      }
    }
  }
}

static void connect_all(int round) {
  open_plugin(20);
  wait_for(&shared->listens, round, "the receiver");
  start_waiting();
  for (int c = 0; c < CONNECTIONS; c++) {
    char handle[128];
    memcpy(handle, shared->handle, sizeof handle);
    sending[c].comm = NULL;
    while (sending[c].comm == NULL) {
      int result = net->connect(context, 0, handle, &sending[c].comm, NULL);
      CHECK(result == NCCL_SUCCESS, "connect returned %d", result);
      keep_waiting("connect");
    }
    prepare(&sending[c], (unsigned)(round * CONNECTIONS + c), true);
  }
}

/* Sends as NCCL's progress thread does, which doesn't know that main returns. */
static void *send_beside(void *none) {
  send_all(true);
  return none;
}

static void *exit_beside(void *round) {
  record_exit(*(int *)round);
  exit(7);
}

/* Exits as a return from main does. */
static int be_sender(int round) {
  atexit(record_end);
  for (int c = 0; c < CONNECTIONS; c++) {
    atomic_store(&shared->sent[c], 0);
  }
  connect_all(round);
  pthread_t thread;
  enum kind kind = (enum kind)(round % KINDS);
  if (kind == TRIED) {
    CHECK(pthread_create(&thread, NULL, send_beside, NULL) == 0, "no thread");
    start_waiting();
    while (!atomic_load(&has_tried)) {
      keep_waiting("the first try");
    }
  } else {
    send_all(kind == COMPLETED);
  }
  if (kind == ELSEWHERE) {
    CHECK(pthread_create(&thread, NULL, exit_beside, &round) == 0, "no thread");
    pause();
  }
  record_exit(round);
  return 7;
}

/* ---- the driver of the processes ---- */

static pid_t start(int (*main_of_child)(int), int round) {
  pid_t child = fork();
  CHECK(child >= 0, "fork failed");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    exit(main_of_child(round));
  }
  return child;
}

static int receiver_main(int none) {
  (void)none;
  return be_receiver();
}

static int busy_main(int none) {
  (void)none;
  for (alarm(600);;) {
    atomic_load(&shared->round);
  }
  return 0;
}

static int status_of(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child, "no child");
  return status;
}

static long end_took_us(void) { return atomic_load(&shared->ended_us) - atomic_load(&shared->left_us); }

/* Allows twice the promised time, plus the delays of a loaded host. */
static void check_end_duration(const char *name) {
  long took = end_took_us();
  long stalled = atomic_load(&shared->ended_stalled_us) - atomic_load(&shared->left_stalled_us);
  long used = took - stalled > took / MOST_SLOWDOWN ? took - stalled : took / MOST_SLOWDOWN;
  CHECK(used < 2 * LONGEST_END_US, "%s: the end took %ld us, and tasks waited for a processor for %ld of them", name,
        took, stalled);
}

static void one_round(int round, pid_t receiver) {
  atomic_store(&shared->round, round);
  int status = status_of(start(be_sender, round));
  const char *name = NAMES[round % KINDS];
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "round %d (%s): the sender's status is %#x", round, name,
        (unsigned)status);
  start_waiting();
  while (atomic_load(&shared->received) < round) {
    CHECK(
        waitpid(receiver, &status, WNOHANG) == 0,
        "round %d (%s): the receiver ended, status %#x; %u, %u and %u messages were accepted, the end took %ld us; the "
        "sender "
        "said: %s",
        round, name, (unsigned)status, shared->sent[0], shared->sent[1], shared->sent[2], end_took_us(),
        shared->sender_reported);
    keep_waiting("the receiver");
    usleep(500);
  }
}

/* ---- other ends: an unresponsive peer, a forked child, a signal ---- */

static int stop_or_kill;
static pid_t peer;

/* Exits after the peer was stopped or killed in the middle of 7 MB. The process must end in time nevertheless. */
static int leave_behind_peer(int round) {
  atexit(record_end);
  connect_all(round);
  wait_for(&shared->receives_posted, round, "the receives");
  send_all(false);
  kill(peer, stop_or_kill);
  record_exit(round);
  return 7;
}

static int exit_by_signal(int round) {
  connect_all(round);
  wait_for(&shared->receives_posted, round, "the receives");
  send_all(false);
  kill(peer, SIGSTOP);
  raise(SIGTERM);
  return 7;
}

/* Checks that a child runs no part of the plugin's exit handler, which would start a thread. */
static int fork_and_leave(int round) {
  atexit(record_end);
  connect_all(round);
  pid_t child = fork();
  if (child == 0) {
    exit(3);
  }
  int status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the child's status is %#x", (unsigned)status);
  int threads = atomic_load(&shared->threads_at_end);
  CHECK(threads == 1, "%d threads in the child at its end", threads);
  send_all(false);
  record_exit(round);
  return 7;
}

static void check_other_exit(const char *name, int (*sender)(int), int signal_to_peer, int expected_signal) {
  memset(shared, 0, sizeof *shared);
  peer = start(receiver_main, 0);
  stop_or_kill = signal_to_peer;
  enum { ROUND = POSTED };
  atomic_store(&shared->round, ROUND);
  int status = status_of(start(sender, ROUND));
  if (expected_signal == 0) {
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s: the sender's status is %#x", name, (unsigned)status);
    check_end_duration(name);
  } else {
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == expected_signal, "%s: the sender's status is %#x", name,
          (unsigned)status);
  }
  if (signal_to_peer == 0) {
    wait_for(&shared->received, ROUND, "the receiver");
  }
  kill(peer, SIGKILL);
  status_of(peer);
  printf("ok: %s; the end took %ld us\n", name, expected_signal == 0 ? end_took_us() : 0);
}

int main(int count, char **arguments) {
  int rounds = count > 1 ? atoi(arguments[1]) : 12;
  int busy = count > 2 ? atoi(arguments[2]) : 0;
  run = getpid();
  setvbuf(stdout, NULL, _IOLBF, 0);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED, "no shared memory");
  pid_t loads[16];
  for (int i = 0; i < busy && i < 16; i++) {
    loads[i] = start(busy_main, 0);
  }
  pid_t receiver = start(receiver_main, 0);
  long worst[KINDS] = {0};
  int given_up = 0;
  int had_time = 0;
  /* Beside other processes, a second may be too short for delivery, and more senders then run. No sender may hang. */
  int wanted = rounds - rounds / 2;
  for (int round = 1; round <= rounds || (had_time < wanted && round <= MOST_SLOWDOWN * rounds); round++) {
    one_round(round, receiver);
    long took = end_took_us();
    check_end_duration(NAMES[round % KINDS]);
    bool undelivered = atomic_load(&shared->gave_up) == round;
    CHECK(!undelivered || took > LONGEST_END_US / 2, "round %d: the sender gave up after %ld us", round, took);
    given_up += undelivered;
    had_time += !undelivered;
    worst[round % KINDS] = took > worst[round % KINDS] ? took : worst[round % KINDS];
  }
  atomic_store(&shared->round, -1);
  int status = status_of(receiver);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the receiver's status is %#x", (unsigned)status);
  CHECK(had_time >= wanted, "%d of %d senders had too little time", given_up, given_up + had_time);
  for (int i = 0; i < KINDS; i++) {
    printf("ok: %s: every byte arrived; the end took %ld us at most\n", NAMES[i], worst[i]);
  }
  for (int i = 0; i < busy && i < 16; i++) {
    kill(loads[i], SIGKILL);
    status_of(loads[i]);
  }
  int not_taken = atomic_load(&shared->not_taken);
  check_other_exit("a forked child", fork_and_leave, 0, 0);
  check_other_exit("a peer that is killed", leave_behind_peer, SIGKILL, 0);
  check_other_exit("a peer that stands still", leave_behind_peer, SIGSTOP, 0);
  check_other_exit("SIGTERM", exit_by_signal, SIGSTOP, SIGTERM);
  printf("ok: %d senders left without closing, beside %d busy processes; %d had too little time, %d messages weren't "
         "taken\n",
         given_up + had_time, busy, given_up, not_taken);
  return 0;
}
