#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/*
 * Attaching kills the process at 16 KiB of stack, fails with an error at 32 to 96 KiB, and works from 112 KiB on. So
 * the stack is checked first. The check measures the space below the caller's frame, less the JVM's guard and shadow
 * pages (~100 KiB). So a large stack that is nearly used up counts as a small stack.
 */
#define SMALLEST_STACK_BYTES (192 * 1024)
#define SMALLEST_REST_BYTES (160 * 1024)

/*
 * Least stack for a call of an attached thread. Guard and shadow pages begin at 96 KiB, and a Java error ends the
 * process if its handler has no stack. The value is lower than SMALLEST_REST_BYTES, since later callers may be slightly
 * deeper in the stack.
 */
#define SMALLEST_REST_OF_CALL (128 * 1024)

/* Java assumes this size for the first thread's stack, as for its own threads (-Xss), whatever ulimit -s says. */
#define FIRST_STACK_BYTES (512 * 1024)

/*
 * A thread that blocks fault signals ends the process at Java's next deliberate fault. A check costs a system call, 0.1
 * to 0.6 us, so only one entry in 64 makes the check. Each of a thread's first entries makes it too, since a thread
 * sets its mask when it begins. After a check has found blocked signals, each of many entries makes it, since some
 * threads block signals around every call.
 */
#define ENTRIES_PER_CHECK 64
#define FIRST_WATCHED 32
#define AGAIN_WATCHED 4096
#define CHECKS_PER_HANDLER_CHECK 16

#define NOT_ATTACHED UINTPTR_MAX

_Thread_local struct heddle_thread heddle_thread
    __attribute__((tls_model("initial-exec"))) = {.lowest_frame = NOT_ATTACHED};

static pthread_key_t detach_key;
static int detach_key_error = -1;

/* Runs at the end of a thread that the shim attached. */
static void detach(void *vm) {
  if (!heddle_in_forked_child) {
    heddle_thread.lowest_frame = NOT_ATTACHED;
    heddle_thread.runs = HEDDLE_JAVA;
    (*(JavaVM *)vm)->DetachCurrentThread(vm);
    heddle_thread.runs = HEDDLE_UNKNOWN;
  }
}

static void create_key(void) { detach_key_error = pthread_key_create(&detach_key, detach); }

void heddle_mark_java_thread(void) { heddle_thread.runs = heddle_thread.outside = HEDDLE_JAVA; }

/*
 * Finds the lowest address of the calling thread's stack that Java may use. If it can't be found, logs the reason and
 * returns false.
 */
static bool find_stack(uintptr_t *lowest, size_t *size) {
  pthread_attr_t attributes;
  int error = pthread_getattr_np(pthread_self(), &attributes);
  if (error != 0) {
    /*
     * Only /proc has the bounds of the first thread's stack. Java reads it there as well, and would end the process if
     * it can't.
     */
    heddle_log(NCCL_LOG_WARN,
               "can't read this thread's stack size (%s), so it may not enter Java; make /proc/self/maps readable",
               strerror(error));
    return false;
  }
  void *start = NULL;
  pthread_attr_getstack(&attributes, &start, size);
  pthread_attr_destroy(&attributes);
  *lowest = (uintptr_t)start;
  if (getpid() == (pid_t)syscall(SYS_gettid) && *size > FIRST_STACK_BYTES) {
    *lowest += *size - FIRST_STACK_BYTES;
    *size = FIRST_STACK_BYTES;
  }
  return true;
}

static void refuse_stack(size_t size, uintptr_t rest, size_t needed) {
  heddle_log(
      NCCL_LOG_WARN,
      "this thread has a stack of %zu KiB for Java with %zu KiB left; Java needs %d KiB and %zu KiB. Give the thread "
      "that calls NCCL a larger stack, or call from a shallower frame",
      size / 1024, (size_t)rest / 1024, SMALLEST_STACK_BYTES / 1024, needed / 1024);
}

static bool stack_is_large_enough(uintptr_t lowest, size_t size) {
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  uintptr_t rest = frame > lowest ? frame - lowest : 0;
  if (size < SMALLEST_STACK_BYTES || rest < SMALLEST_REST_BYTES) {
    refuse_stack(size, rest, SMALLEST_REST_BYTES);
    return false;
  }
  return true;
}

int heddle_refuse_before_init(void) {
  heddle_log(NCCL_LOG_WARN, "called before a successful init");
  return NCCL_INVALID_USAGE;
}

/*
 * Refuses a call that an attached thread makes from deeper in its stack than Java tolerates. Warns once per thread,
 * since the thread may call repeatedly.
 */
static int refuse_call(void) {
  if (!heddle_thread.warned) {
    heddle_thread.warned = true;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uintptr_t lowest = heddle_thread.lowest_frame - SMALLEST_REST_OF_CALL;
    uintptr_t rest = frame > lowest ? frame - lowest : 0;
    heddle_log(
        NCCL_LOG_WARN,
        "a call from too deep in this thread's stack: %zu KiB are left for Java, which needs %d KiB; this call is "
        "refused, and so are later ones like it. Give the thread that calls NCCL a larger stack",
        (size_t)rest / 1024, SMALLEST_REST_OF_CALL / 1024);
  }
  return NCCL_SYSTEM_ERROR;
}

static void check_next_entries(void) {
  heddle_thread.until_check = 1;
  heddle_thread.watched = FIRST_WATCHED;
}

static int attach(JavaVM *vm) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, create_key);
  if (detach_key_error != 0) {
    heddle_log(NCCL_LOG_WARN, "no thread-specific key left in this process (%s)", strerror(detach_key_error));
    return NCCL_SYSTEM_ERROR;
  }
  char name[16] = "nccl";
  pthread_getname_np(pthread_self(), name, sizeof name);
  JavaVMAttachArgs arguments = {.version = JNI_VERSION_10, .name = name, .group = NULL};
  JNIEnv *env = NULL;
  heddle_thread.runs = HEDDLE_JAVA;
  jint result = (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &arguments);
  if (heddle_thread.outside == HEDDLE_UNKNOWN && result == JNI_OK) {
    heddle_thread.outside = HEDDLE_HOST;
  }
  heddle_thread.runs = heddle_thread.outside;
  if (result != JNI_OK) {
    heddle_log(NCCL_LOG_WARN, "Java refused thread %s (AttachCurrentThreadAsDaemon returned %d)", name, (int)result);
    return NCCL_SYSTEM_ERROR;
  }
  pthread_setspecific(detach_key, vm);
  return NCCL_SUCCESS;
}

int heddle_attach_thread(void) {
  if (heddle_thread.lowest_frame != NOT_ATTACHED) {
    return refuse_call();
  }
  JavaVM *vm = __atomic_load_n(&heddle_vm, __ATOMIC_ACQUIRE);
  if (vm == NULL) {
    return heddle_refuse_before_init();
  }
  uintptr_t lowest = 0;
  size_t size = 0;
  JNIEnv *env = NULL;
  if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) == JNI_OK) {
    /*
     * The host's own Java attached the thread. The shim must not detach it, and the thread may be inside Java already.
     */
    heddle_thread.lowest_frame = find_stack(&lowest, &size) ? lowest + SMALLEST_REST_OF_CALL : 0;
    check_next_entries();
    return NCCL_SUCCESS;
  }
  if (!find_stack(&lowest, &size) || !stack_is_large_enough(lowest, size)) {
    return NCCL_SYSTEM_ERROR;
  }
  int error = attach(vm);
  if (error == NCCL_SUCCESS) {
    heddle_thread.lowest_frame = lowest + SMALLEST_REST_OF_CALL;
    check_next_entries();
  }
  return error;
}

void heddle_thread_check(void) {
  static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  struct heddle_thread *thread = &heddle_thread;
  sigset_t faults, before;
  sigemptyset(&faults);
  for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
    sigaddset(&faults, FAULTS[i]);
  }
  pthread_sigmask(SIG_UNBLOCK, &faults, &before);
  thread->watched -= thread->watched > 0;
  for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
    if (sigismember(&before, FAULTS[i]) == 1) {
      thread->watched = AGAIN_WATCHED;
    }
  }
  thread->until_check = thread->watched > 0 ? 1 : ENTRIES_PER_CHECK;
  if (thread->watched == 0 && ++thread->checks % CHECKS_PER_HANDLER_CHECK == 0) {
    heddle_signals_refresh();
  }
}
