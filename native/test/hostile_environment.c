/*
 * Starts Java in processes with a hostile environment. The plugin works around the environment if it can. Otherwise it
 * logs one line with the cause, and the process lives.
 */
#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SKIPPED 77
#define UNUSED_USER 64123

static int init(const struct nccl_net_v12 *net) {
  struct nccl_config config = {.traffic_class = -1};
  void *context = NULL;
  return net->init(&context, 1, &config, logger, NULL);
}

/*
 * Calls init twice. Each call must fail with the same warning and print nothing on standard error. System calls for
 * another transport of NCCL's must still work.
 */
static void refused(const char *word, const char *remedy) {
  const struct nccl_net_v12 *net = table_v12(load());
  int words = capture_stderr();
  for (int attempt = 1; attempt <= 2; attempt++) {
    int result = init(net);
    CHECK(result == NCCL_SYSTEM_ERROR, "init returned %d", result);
    CHECK(warnings == attempt, "%d warnings after %d attempts", warnings, attempt);
    CHECK(strstr(logged, word) != NULL && strstr(logged, remedy) != NULL, "the line doesn't contain %s and %s", word,
          remedy);
  }
  stderr_must_be_empty(words);
  int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(other >= 0, "the process has no sockets for another transport: %s", strerror(errno));
  close(other);
}

/* Expects that Java has started but its device can't be opened. */
static void refused_by_device(const char *words) {
  const struct nccl_net_v12 *net = table_v12(load());
  long begun = now_us();
  int result = init(net);
  CHECK(result != NCCL_SUCCESS, "init succeeded");
  CHECK(warnings >= 1 && strstr(logged, words) != NULL && strstr(logged, "systemd") != NULL,
        "no line contains %s and systemd", words);
  CHECK(now_us() - begun < 8000000L, "the refusal took %ld ms", (now_us() - begun) / 1000);
}

/* ---- options in the environment ---- */

static const char *const VARIABLES[] = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_AOT_VM_OPTIONS"};
enum { VARIABLE_COUNT = sizeof VARIABLES / sizeof VARIABLES[0] };

static void set_options(const char *value) {
  for (int i = 0; i < VARIABLE_COUNT; i++) {
    setenv(VARIABLES[i], value, 1);
  }
}

static void options_left_aside(const char *value) {
  set_options(value);
  const struct nccl_net_v12 *net = table_v12(load());
  int words = capture_stderr();
  init_v12(net, 1);
  use_v12(net);
  stderr_must_be_empty(words);
  CHECK(warnings == 0, "%d warnings", warnings);
  CHECK(strstr(logged, "ignores JAVA_TOOL_OPTIONS, _JAVA_OPTIONS, JDK_AOT_VM_OPTIONS, which") != NULL &&
            strstr(logged, "HEDDLE_JVM_OPTIONS") != NULL,
        "no line names the variables");
  for (int i = 0; i < VARIABLE_COUNT; i++) {
    const char *now = getenv(VARIABLES[i]);
    CHECK(now != NULL && strcmp(now, value) == 0, "%s has become %s", VARIABLES[i], now == NULL ? "away" : now);
  }
}

/* The port for Java's debug agent (JDWP) is in use. If the agent were loaded, it would end the process. */
static void taken_port(void) {
  int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  CHECK(bind(taken, (struct sockaddr *)&address, length) == 0 && listen(taken, 1) == 0 &&
            getsockname(taken, (struct sockaddr *)&address, &length) == 0,
        "no port: %s", strerror(errno));
  char options[128];
  snprintf(options, sizeof options, "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:%d",
           ntohs(address.sin_port));
  options_left_aside(options);
}

#define VALUE "-XX:+UseG1GC -Dof=the.cluster"

static atomic_bool over;
static atomic_long reads;
static char unexpected[128];

static void *read_environment(void *none) {
  (void)none;
  while (!atomic_load(&over)) {
    const char *now = getenv("JAVA_TOOL_OPTIONS");
    if (now == NULL || strcmp(now, VALUE) != 0) {
      snprintf(unexpected, sizeof unexpected, "%s", now == NULL ? "nothing" : now);
    }
    atomic_fetch_add(&reads, 1);
  }
  return NULL;
}

/* Children forked during a start see the variable unchanged, and so do the process's other threads. */
static void *fork_children(void *none) {
  (void)none;
  int children = 0;
  while (!atomic_load(&over)) {
    pid_t child = fork();
    if (child == 0) {
      const char *now = getenv("JAVA_TOOL_OPTIONS");
      _exit(now != NULL && strcmp(now, VALUE) == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child %d saw another value (%d)", children,
          status);
    children++;
    usleep(1000);
  }
  CHECK(children > 10, "only %d children while the plugin started", children);
  return NULL;
}

static void fork_under_options(void) {
  set_options(VALUE);
  pthread_t reader, forker;
  CHECK(pthread_create(&reader, NULL, read_environment, NULL) == 0 &&
            pthread_create(&forker, NULL, fork_children, NULL) == 0,
        "no threads");
  options_left_aside(VALUE);
  atomic_store(&over, true);
  pthread_join(reader, NULL);
  pthread_join(forker, NULL);
  CHECK(unexpected[0] == '\0', "one of %ld reads returned %s", atomic_load(&reads), unexpected);
}

/* ---- seccomp filters ---- */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

static void install(struct sock_filter *filter, size_t count) {
  struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs: %s", strerror(errno));
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp: %s", strerror(errno));
}

/* Installs a filter in the form that systemd's MemoryDenyWriteExecute= had before Linux 6.3. */
static void refuse_protection(unsigned call, unsigned protection, int error) {
  struct sock_filter filter[] = {
      LOAD(nr),
      UNLESS(call, 4),
      LOAD(args[2]),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, protection),
      UNLESS(protection, 1),
      RETURN(SECCOMP_RET_ERRNO | (unsigned)error),
      RETURN(SECCOMP_RET_ALLOW),
  };
  install(filter, sizeof filter / sizeof filter[0]);
}

static void refuse_call(unsigned call, int error) {
  struct sock_filter filter[] = {LOAD(nr), UNLESS(call, 1), RETURN(SECCOMP_RET_ERRNO | (unsigned)error),
                                 RETURN(SECCOMP_RET_ALLOW)};
  install(filter, sizeof filter / sizeof filter[0]);
}

/* Installs the filter of systemd's RestrictAddressFamilies= without AF_NETLINK. */
static void refuse_netlink(void) {
  struct sock_filter filter[] = {
      LOAD(nr),
      UNLESS(SYS_socket, 3),
      LOAD(args[0]),
      UNLESS(AF_NETLINK, 1),
      RETURN(SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      RETURN(SECCOMP_RET_ALLOW),
  };
  install(filter, sizeof filter / sizeof filter[0]);
}

static void deny_executable_memory(void) {
  if (prctl(65 /* PR_SET_MDWE */, 1 /* PR_MDWE_REFUSE_EXEC_GAIN */, 0, 0, 0) != 0) {
    printf("skipped: this Linux is older than 6.3 (PR_SET_MDWE: %s)\n", strerror(errno));
    exit(SKIPPED);
  }
}

/* ---- the process's folder and files ---- */

static void no_working_folder(void) {
  char folder[] = "/tmp/heddle-scratch-XXXXXX";
  CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0 && rmdir(folder) == 0, "no folder to remove");
  const struct nccl_net_v12 *net = table_v12(load());
  init_v12(net, 1);
  use_v12(net);
  CHECK(warnings == 0 && strstr(logged, "can't read the working directory") != NULL, "no line says so");
  char now[4096];
  CHECK(getcwd(now, sizeof now) == NULL && errno == ENOENT, "the working directory has become %s", now);
}

/* Messages that a device sends to itself: length, and time limit. */
enum { BYTES = 1 << 20, PATIENCE_US = 20000000 };

struct connection {
  void *listen, *send, *receive, *of_source, *of_target;
  unsigned char source[BYTES], target[BYTES];
};

static void connect_to_itself(const struct nccl_net_v12 *net, void *context, struct connection *made) {
  char handle[128] = "";
  memset(made, 0, sizeof *made);
  CHECK(net->listen(context, 0, handle, &made->listen) == NCCL_SUCCESS, "listen failed");
  long deadline = now_us() + PATIENCE_US;
  while (made->send == NULL || made->receive == NULL) {
    CHECK(made->send != NULL || net->connect(context, 0, handle, &made->send, NULL) == NCCL_SUCCESS, "connect failed");
    CHECK(made->receive != NULL || net->accept(made->listen, &made->receive, NULL) == NCCL_SUCCESS, "accept failed");
    CHECK(now_us() < deadline, "no connection within 20 s");
  }
  CHECK(net->reg(made->send, made->source, BYTES, 1, &made->of_source) == NCCL_SUCCESS &&
            net->reg(made->receive, made->target, BYTES, 1, &made->of_target) == NCCL_SUCCESS,
        "regMr failed");
  memset(made->source, 0x5a, BYTES);
}

/* Sends one message. Returns the first result that isn't success. */
static int transfer(const struct nccl_net_v12 *net, struct connection *made) {
  long deadline = now_us() + PATIENCE_US;
  memset(made->target, 0, BYTES);
  void *requests[2] = {NULL, NULL};
  bool done[2] = {false, false};
  while (!done[0] || !done[1]) {
    void *data[] = {made->target};
    size_t sizes[] = {BYTES};
    int tags[] = {1};
    int result = NCCL_SUCCESS;
    if (requests[0] == NULL) {
      result = net->irecv(made->receive, 1, data, sizes, tags, &made->of_target, NULL, &requests[0]);
    }
    if (requests[1] == NULL && result == NCCL_SUCCESS) {
      result = net->isend(made->send, made->source, BYTES, 1, made->of_source, NULL, &requests[1]);
    }
    for (int i = 0; i < 2 && result == NCCL_SUCCESS; i++) {
      int over_now = 0;
      if (requests[i] != NULL && !done[i]) {
        result = net->test(requests[i], &over_now, NULL);
        done[i] = over_now != 0;
      }
    }
    if (result != NCCL_SUCCESS) {
      return result;
    }
    CHECK(now_us() < deadline, "no message within 20 s");
  }
  CHECK(memcmp(made->source, made->target, BYTES) == 0, "wrong bytes");
  return NCCL_SUCCESS;
}

static void use_connection(const struct nccl_net_v12 *net, void *context) {
  static struct connection made;
  connect_to_itself(net, context, &made);
  int result = transfer(net, &made);
  CHECK(result == NCCL_SUCCESS, "a message failed with %d", result);
  CHECK(net->close_send(made.send) == NCCL_SUCCESS && net->close_receive(made.receive) == NCCL_SUCCESS &&
            net->close_listen(made.listen) == NCCL_SUCCESS,
        "close failed");
}

/* A library closes all descriptors of this process, as some do before they start a child. */
static void closed_files(void) {
  const struct nccl_net_v12 *net = table_v12(load());
  void *context = init_v12(net, 1);
  static struct connection made;
  connect_to_itself(net, context, &made);
  CHECK(transfer(net, &made) == NCCL_SUCCESS, "the first message failed");
  CHECK(syscall(SYS_close_range, 3U, ~0U, 0) == 0, "close_range: %s", strerror(errno));
  long begun = now_us();
  int result = transfer(net, &made);
  CHECK(result != NCCL_SUCCESS, "a message passed without sockets");
  CHECK(now_us() - begun < 2000000L, "the error took %ld ms", (now_us() - begun) / 1000);
  CHECK(strstr(logged, "something in this process has closed the plugin's files") != NULL, "no line has the reason");
}

static void standard_files_must_be_free(const char *when) {
  for (int fd = 0; fd <= 2; fd++) {
    char link[64];
    char target[256] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    CHECK(readlink(link, target, sizeof target - 1) < 0, "%s: descriptor %d is %s", when, fd, target);
  }
}

/* A daemon closes descriptors 0 to 2, loads the plugin, and later opens /dev/null under these numbers. */
static void no_standard_files(void) {
  const struct nccl_net_v12 *net = table_v12(load());
  report = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
  CHECK(report >= 100, "no copy of standard error");
  for (int fd = 0; fd <= 2; fd++) {
    close(fd);
  }
  void *context = init_v12(net, 1);
  standard_files_must_be_free("after init");
  use_v12(net);
  use_connection(net, context);
  standard_files_must_be_free("after a connection");
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  CHECK(null == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2, "/dev/null is descriptor %d", null);
  use_connection(net, context);
  CHECK(net->finalize(context) == NCCL_SUCCESS, "finalize failed");
  CHECK(warnings == 0, "%d warnings", warnings);
  dup2(report, 1);
}

/* ---- threads that another rank takes meanwhile ---- */

static atomic_int threads_left = INT_MAX;

/* Replaces the C library's function for all libraries of this process. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *argument) {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *__extension__(void **) & create = dlsym(RTLD_NEXT, "pthread_create");
  return atomic_fetch_sub(&threads_left, 1) > 0 ? create(thread, attributes, run, argument) : EAGAIN;
}

/*
 * Numbers of threads. BEFORE_JAVA: one that starts Java, and 16 that start_limits.c creates briefly. MOST_OF_JAVA: the
 * maximum that Java itself creates.
 */
enum { BEFORE_JAVA = 1 + 16, MOST_OF_JAVA = 20 };

/* Runs init for one rank. Returns true if the rank got all its threads. */
static bool starts_with(int threads) {
  const struct nccl_net_v12 *net = table_v12(load());
  int words = capture_stderr();
  atomic_store(&threads_left, BEFORE_JAVA + threads);
  int result = init(net);
  usleep(50000); /* waits for lines that other threads print */
  stderr_must_be_empty(words);
  if (result == NCCL_SUCCESS) {
    return warnings == 0;
  }
  CHECK(result == NCCL_SYSTEM_ERROR && warnings == 1 && strstr(logged, "ulimit -u is ") != NULL,
        "with %d threads init returned %d, with %d warnings", threads, result, warnings);
  return false;
}

/*
 * Allows from 0 to all of Java's threads, each number in a separate process. Below eight only every fourth number is
 * tried, since refusals of Java's first eight threads are reported alike.
 */
static void threads_taken(void) {
  for (int threads = 0; threads < MOST_OF_JAVA; threads += threads < 8 ? 4 : 1) {
    pid_t child = fork();
    if (child == 0) {
      _exit(starts_with(threads) ? 0 : 2);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1, "with %d threads the process ended with %d", threads, status);
    if (WEXITSTATUS(status) == 0) {
      CHECK(threads > 8, "Java starts with %d threads?", threads);
      return;
    }
  }
  CHECK(false, "no start with %d threads", MOST_OF_JAVA);
}

/* The process becomes another user, since launchers may drop their privileges at any time. */
static void another_user(void) {
  if (geteuid() != 0) {
    printf("skipped: only root becomes another user\n");
    exit(SKIPPED);
  }
  const struct nccl_net_v12 *net = table_v12(load());
  void *context = init_v12(net, 1);
  CHECK(setgid(UNUSED_USER) == 0 && setuid(UNUSED_USER) == 0, "can't become another user");
  use_connection(net, context);
  int result = net->finalize(context);
  CHECK(result == NCCL_SUCCESS, "finalize returned %d", result);
  CHECK(warnings == 1 && strstr(logged, "stays, since this process no longer runs as its owner") != NULL,
        "no line names the file that stays");
}

int main(int count, char **arguments) {
  CHECK(count == 2, "usage: hostile_environment case");
  const char *which = arguments[1];
  if (strcmp(which, "second-collector-options") == 0) {
    options_left_aside("-XX:+UseG1GC");
  } else if (strcmp(which, "missing-agent-options") == 0) {
    options_left_aside("-javaagent:/nowhere.jar");
  } else if (strcmp(which, "unknown-flag-options") == 0) {
    options_left_aside("-XX:+NoSuchFlag");
  } else if (strcmp(which, "small-heap-options") == 0) {
    options_left_aside("-Xmx8m");
  } else if (strcmp(which, "taken-port-options") == 0) {
    taken_port();
  } else if (strcmp(which, "fork-under-options") == 0) {
    fork_under_options();
  } else if (strcmp(which, "no-executable-memory") == 0) {
    deny_executable_memory();
    refused("PR_SET_MDWE forbids it", "MemoryDenyWriteExecute=no");
  } else if (strcmp(which, "no-executable-mprotect") == 0) {
    refuse_protection(SYS_mprotect, PROT_EXEC, EPERM);
    refused("mprotect(PROT_EXEC)", "allow it in the filter");
  } else if (strcmp(which, "no-executable-mmap") == 0) {
    refuse_protection(SYS_mmap, PROT_WRITE | PROT_EXEC, EACCES);
    refused("mmap(PROT_WRITE | PROT_EXEC)", "allow execmem");
  } else if (strcmp(which, "no-affinity") == 0) {
    refuse_call(SYS_sched_getaffinity, EPERM);
    refused("sched_getaffinity", "SystemCallFilter=");
  } else if (strcmp(which, "no-recvmmsg") == 0) {
    refuse_call(SYS_recvmmsg, ENOSYS);
    refused_by_device("recvmmsg on descriptor");
  } else if (strcmp(which, "no-sendmsg") == 0) {
    refuse_call(SYS_sendmsg, EPERM);
    refused_by_device("sendmsg on descriptor");
  } else if (strcmp(which, "no-epoll") == 0) {
    refuse_call(SYS_epoll_create1, ENOSYS);
    refused_by_device("epoll");
  } else if (strcmp(which, "no-netlink") == 0) {
    refuse_netlink();
    refused_by_device("AF_NETLINK");
  } else if (strcmp(which, "threads-taken") == 0) {
    threads_taken();
  } else if (strcmp(which, "another-user") == 0) {
    another_user();
  } else if (strcmp(which, "closed-files") == 0) {
    closed_files();
  } else if (strcmp(which, "no-working-folder") == 0) {
    no_working_folder();
  } else if (strcmp(which, "no-standard-files") == 0) {
    no_standard_files();
  } else {
    CHECK(false, "there is no case %s", which);
  }
  printf("ok: %s: %s", which, logged);
  return 0;
}
