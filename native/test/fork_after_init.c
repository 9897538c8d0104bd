/*
 * PyTorch's data loaders fork after NCCL's init. The child may call the plugin, for example in destructors, but must
 * not run Java.
 */
#include "harness.h"

#include <sys/wait.h>

static const struct nccl_net_v12 *net;
static void *context;

/* Runs in the child. The exit status names the call with a wrong result. */
static int call_everything(void) {
  struct nccl_config config = {.traffic_class = -1};
  void *other = NULL;
  int count = 0;
  int done = 7;
  struct nccl_properties_v12 properties;
  char handle[128] = {0};
  void *comm = (void *)1;
  struct {
    char bytes[64];
  } request = {{0}};
  int results[] = {
      net->init(&other, 2, &config, logger, NULL),
      net->devices(&count),
      net->get_properties(0, &properties),
      net->listen(context, 0, handle, &comm),
      net->connect(context, 0, handle, &comm, NULL),
      net->accept(NULL, &comm, NULL),
      net->test(&request, &done, NULL),
      net->finalize(context),
  };
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
    if (results[i] != NCCL_INVALID_USAGE) {
      fprintf(stderr, "call %zu returned %d in the child\n", i, results[i]);
      return 1 + (int)i;
    }
  }
  return done == 0 && comm == NULL ? 0 : 100;
}

static void *forking_thread(void *argument) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    if (call_everything() != 0) {
      _exit(1);
    }
    pthread_exit(NULL); /* ends an attached thread, and so the child */
  }
  int status = -1;
  waitpid(child, &status, 0);
  *(int *)argument = status;
  return NULL;
}

int main(void) {
  net = table_v12(load());
  context = init_v12(net, 1);
  use_v12(net);
  alarm(60); /* ends a child that has entered Java and hangs */
  for (int round = 0; round < 3; round++) {
    pid_t child = fork();
    CHECK(child >= 0, "fork failed");
    if (child == 0) {
      alarm(20);
      pthread_mutex_trylock(&log_lock); /* holds the lock, as if another thread were in the logger */
      int wrong = call_everything();
      if (round == 1) {
        exit(wrong); /* runs the exit handlers too */
      }
      _exit(wrong);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child's status is %#x", (unsigned)status);
    use_v12(net);
  }
  pthread_t thread;
  int status = -1;
  CHECK(pthread_create(&thread, NULL, forking_thread, &status) == 0, "no thread");
  pthread_join(thread, NULL);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child's status is %#x", (unsigned)status);
  use_v12(net);
  CHECK(net->finalize(context) == NCCL_SUCCESS, "the parent's finalize failed");
  CHECK(warnings == 0, "the parent warned %d times", warnings);
  printf("ok: children were refused, the parent continued\n");
  return 0;
}
