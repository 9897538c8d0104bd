/*
 * A rank is killed while its forked children live on, as data loaders do. Its peer notices at once, its ports are free,
 * and the children keep all descriptors of the host's own.
 */
#include "harness.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

enum {
  NOTIFIED_WITHIN_US = 1000000,
  PATIENCE_S = 60,
  BYTES = 1 << 20,
  CHILDREN = 3,
  ROCE_PORT = 4791,
  STEADY_ROUNDS = 50,
  MOST_DESCRIPTORS = 4096
};

/* Memory that the processes share. */
struct shared {
  atomic_bool listens, connected, killed;
  atomic_int children_ready, plugin_descriptors; /* numbers of ready children, and of open plugin sockets */
  atomic_bool host_descriptor_closed;
  atomic_long killed_us;
  pid_t children[CHILDREN];
  char handle[128];
};

static struct shared *shared;
static pid_t run;
static const struct nccl_net_v12 *net;
static void *context;

static void wait_for(atomic_bool *fact, const char *what) {
  long deadline = now_us() + PATIENCE_S * 1000000L;
  while (!atomic_load(fact)) {
    CHECK(now_us() < deadline, "%s took more than %d s", what, PATIENCE_S);
    usleep(200);
  }
}

/* Returns an end's address. The ends have different addresses, so both can use RoCEv2's port. */
static void address_of(int end, char address[static 16]) {
  snprintf(address, 16, "127.%d.%d.%d", 64 + (run >> 8) % 64, run % 256, end);
}

static void open_plugin(int end) {
  char address[16];
  char planes[32];
  address_of(end, address);
  snprintf(planes, sizeof planes, "%s=1", address);
  setenv("HEDDLE_PLANES", planes, 1);
  net = table_v12(load());
  context = init_v12(net, 1);
  use_v12(net);
}

/*
 * Counts bound sockets and netlink sockets, except the host's own. words: descriptor of a file that gets a line for
 * each socket.
 */
static int sockets_but(int own, int words) {
  int count = 0;
  for (int descriptor = 3; descriptor < MOST_DESCRIPTORS; descriptor++) {
    struct sockaddr_in6 name = {0};
    socklen_t length = sizeof name;
    bool is_bound = getsockname(descriptor, (struct sockaddr *)&name, &length) == 0 && name.sin6_family != AF_UNIX &&
                    (name.sin6_family == AF_NETLINK || name.sin6_port != 0);
    if (is_bound && descriptor != own) {
      char text[INET6_ADDRSTRLEN] = "";
      inet_ntop(AF_INET6, &name.sin6_addr, text, sizeof text);
      dprintf(words, "%d: family %d, [%s]:%d\n", descriptor, name.sin6_family, text, ntohs(name.sin6_port));
      count++;
    }
  }
  return count;
}

static int host_socket(void) {
  int made = socket(AF_INET6, SOCK_DGRAM, 0);
  struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
  CHECK(made >= 0 && bind(made, (struct sockaddr *)&any, sizeof any) == 0, "no socket of the host's own");
  return made;
}

static void run_child(int own, int file) {
  atomic_fetch_add(&shared->plugin_descriptors, sockets_but(own, report));
  if (fcntl(own, F_GETFD) < 0 || fcntl(file, F_GETFD) < 0) {
    atomic_store(&shared->host_descriptor_closed, true);
  }
  atomic_fetch_add(&shared->children_ready, 1);
  pause();
  _exit(0);
}

/* Makes three children: one by fork(), one that this child forks, and one by exec. */
static void make_children(int own, int file) {
  pid_t first = fork();
  if (first == 0) {
    pid_t second = fork();
    if (second != 0) {
      shared->children[1] = second;
    }
    run_child(own, file);
  }
  shared->children[0] = first;
  char *command[] = {"sleep", "100", NULL};
  CHECK(posix_spawnp(&shared->children[2], "sleep", NULL, NULL, command, environ) == 0, "sleep can't be started");
}

static void *accept_one(void *listen) {
  void *comm = NULL;
  while (comm == NULL) {
    int result = net->accept(listen, &comm, NULL);
    CHECK(result == NCCL_SUCCESS, "accept returned %d", result);
  }
  return comm;
}

static void *connect_to(char *handle) {
  void *comm = NULL;
  while (comm == NULL) {
    int result = net->connect(context, 0, handle, &comm, NULL);
    CHECK(result == NCCL_SUCCESS, "connect returned %d", result);
  }
  return comm;
}

/*
 * Waits until the number of sockets is steady. The warm-up makes its own connections meanwhile, and a connection that
 * is just being made is not in the plugin's table.
 */
static void wait_for_quiet(int own) {
  long deadline = now_us() + PATIENCE_S * 1000000L;
  int rounds = 0;
  for (int before = 0; rounds < STEADY_ROUNDS; rounds++) {
    CHECK(now_us() < deadline, "the plugin's sockets change for more than %d s", PATIENCE_S);
    int count = sockets_but(own, -1);
    rounds = count == before ? rounds : 0;
    before = count;
    usleep(10000);
  }
}

static void run_killed_host(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  open_plugin(1);
  void *listen = NULL;
  CHECK(net->listen(context, 0, shared->handle, &listen) == NCCL_SUCCESS, "listen failed");
  atomic_store(&shared->listens, true);
  accept_one(listen);
  /* The host opens descriptors, which may get the numbers of descriptors that the plugin has closed meanwhile. */
  int own = host_socket();
  int file = open("/dev/null", O_RDONLY);
  CHECK(sockets_but(own, -1) > 0, "the plugin has no socket, so this test proves nothing");
  wait_for(&shared->connected, "the peer's connection");
  wait_for_quiet(own);
  make_children(own, file);
  while (atomic_load(&shared->children_ready) < 2) {
    usleep(200);
  }
  atomic_store(&shared->killed_us, now_us());
  kill(getpid(), SIGKILL);
}

static int bind_port_of_killed_host(void) {
  char address[16];
  address_of(1, address);
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(ROCE_PORT)};
  inet_pton(AF_INET, address, &name.sin_addr);
  int made = socket(AF_INET, SOCK_DGRAM, 0);
  int result = bind(made, (struct sockaddr *)&name, sizeof name);
  close(made);
  return result;
}

int main(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED, "no shared memory");
  run = getpid();
  pid_t rank = fork();
  if (rank == 0) {
    run_killed_host();
  }
  open_plugin(2);
  wait_for(&shared->listens, "the rank's start");
  char handle[128];
  memcpy(handle, shared->handle, sizeof handle);
  void *comm = connect_to(handle);
  void *data = calloc(1, BYTES);
  void *memory = NULL;
  CHECK(net->reg(comm, data, BYTES, 1, &memory) == NCCL_SUCCESS, "regMr failed");
  atomic_store(&shared->connected, true);
  /* There is no posted receive, so the send waits for credit when the rank dies. */
  void *request = NULL;
  int result = NCCL_SUCCESS;
  while (result == NCCL_SUCCESS) {
    result = net->isend(comm, data, BYTES, 0, memory, NULL, &request);
    CHECK(atomic_load(&shared->killed_us) == 0 || now_us() - atomic_load(&shared->killed_us) < 30000000,
          "isend accepts messages for half a minute");
    usleep(100);
  }
  long took_us = now_us() - atomic_load(&shared->killed_us);
  int lives = 0;
  for (int i = 0; i < CHILDREN; i++) {
    CHECK(shared->children[i] > 1, "child %d wasn't created", i);
    lives += kill(shared->children[i], 0) == 0;
  }
  waitpid(rank, NULL, 0);
  int bound = bind_port_of_killed_host();
  for (int i = 0; i < CHILDREN; i++) {
    kill(shared->children[i], SIGKILL);
  }
  CHECK(lives == CHILDREN, "%d children, of which %d live", CHILDREN, lives);
  CHECK(!atomic_load(&shared->host_descriptor_closed), "a child has lost a descriptor of the host");
  CHECK(atomic_load(&shared->plugin_descriptors) == 0, "the children have %d sockets of the plugin's",
        atomic_load(&shared->plugin_descriptors));
  CHECK(result == NCCL_REMOTE_ERROR, "isend returned %d", result);
  CHECK(strstr(last_warning, "the peer is gone") != NULL, "NCCL's last error is %s", last_warning);
  /* A rank is killed while others connect to it. */
  void *none = NULL;
  memcpy(handle, shared->handle, sizeof handle);
  do {
    result = net->connect(context, 0, handle, &none, NULL);
  } while (result == NCCL_SUCCESS && none == NULL);
  CHECK(result == NCCL_REMOTE_ERROR, "connect to a dead rank returned %d", result);
  CHECK(took_us < NOTIFIED_WITHIN_US, "the peer was notified after %ld us", took_us);
  CHECK(bound == 0, "port %d of the rank that was killed is still taken", ROCE_PORT);
  printf("ok: the peer was notified after %ld us, with %d children alive\n", took_us, lives);
  return 0;
}
