#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "shim.h"

/*
 * Attaching returns an error from 32 to 96 KiB of stack, works from 112 KiB on and kills the process at 16 KiB, so we
 * look before we try. What counts is what is left below the caller's frame, less the virtual machine's guard and shadow
 * pages (~100 KiB): a large stack that is nearly used up is as bad as a small one.
 */
#define SMALLEST_STACK_BYTES (192 * 1024)
#define SMALLEST_REST_BYTES (160 * 1024)

_Thread_local bool heddle_thread_attached __attribute__((tls_model("initial-exec"))) = false;

static pthread_key_t detach_key;
static int detach_key_error = -1;

/* Runs at the end of a thread that we attached. */
static void detach(void *vm) {
  if (!heddle_in_forked_child) {
    heddle_thread_attached = false;
    (*(JavaVM *)vm)->DetachCurrentThread(vm);
  }
}

static void create_key(void) { detach_key_error = pthread_key_create(&detach_key, detach); }

static bool stack_is_large_enough(void) {
  pthread_attr_t attributes;
  int error = pthread_getattr_np(pthread_self(), &attributes);
  if (error != 0) {
    /* Of the process's first thread it is in /proc alone, and Java, which asks as well, would end the process. */
    heddle_log(NCCL_LOG_WARN,
               "can't read this thread's stack size (%s), so it may not enter Java; make /proc/self/maps readable",
               strerror(error));
    return false;
  }
  void *lowest = NULL;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  size_t rest = (size_t)((char *)__builtin_frame_address(0) - (char *)lowest);
  if (size < SMALLEST_STACK_BYTES || rest < SMALLEST_REST_BYTES) {
    heddle_log(NCCL_LOG_WARN,
               "this thread has a stack of %zu KiB with %zu KiB left; Java needs %d KiB and %d KiB. Give "
               "the thread that calls NCCL a larger stack",
               size / 1024, rest / 1024, SMALLEST_STACK_BYTES / 1024, SMALLEST_REST_BYTES / 1024);
    return false;
  }
  return true;
}

int heddle_attach_thread(void) {
  JavaVM *vm = __atomic_load_n(&heddle_vm, __ATOMIC_ACQUIRE);
  if (vm == NULL) {
    heddle_log(NCCL_LOG_WARN, "called before a successful init");
    return NCCL_INVALID_USAGE;
  }
  JNIEnv *env = NULL;
  if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) == JNI_OK) {
    /* Somebody else's Java thread; it isn't ours to detach. */
    heddle_thread_attached = true;
    return NCCL_SUCCESS;
  }
  if (!stack_is_large_enough()) {
    return NCCL_SYSTEM_ERROR;
  }
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, create_key);
  if (detach_key_error != 0) {
    heddle_log(NCCL_LOG_WARN, "no thread-specific key left in this process (%s)", strerror(detach_key_error));
    return NCCL_SYSTEM_ERROR;
  }
  char name[16] = "nccl";
  pthread_getname_np(pthread_self(), name, sizeof name);
  JavaVMAttachArgs arguments = {.version = JNI_VERSION_10, .name = name, .group = NULL};
  jint result = (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &arguments);
  if (result != JNI_OK) {
    heddle_log(NCCL_LOG_WARN, "Java refused thread %s (AttachCurrentThreadAsDaemon returned %d)", name, (int)result);
    return NCCL_SYSTEM_ERROR;
  }
  pthread_setspecific(detach_key, vm);
  heddle_thread_attached = true;
  return NCCL_SUCCESS;
}
