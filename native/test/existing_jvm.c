/* The host has a JVM already (a Spark executor, say), created without the plugin's options. */
#include "harness.h"

#include <jni.h>

#include "test_jvm.h"

/* The host's JVM can't run the plugin's classes, and the plugin logs one line about it. */
static int too_old(const char *home) {
  setenv("HEDDLE_JAVA_HOME", home, 1);
  make_jvm("-Xmx64m");
  int errors = capture_stderr();
  struct nccl_config config = {.traffic_class = -1};
  void *context = NULL;
  int result = table_v12(load())->init(&context, 1, &config, logger, NULL);
  CHECK(result == NCCL_SYSTEM_ERROR && warnings == 1, "init returned %d with %d warnings", result, warnings);
  CHECK(strstr(logged, "is older than Java 25") != NULL, "the reason is missing");
  stderr_must_be_empty(errors);
  printf("ok: refused the host's old JVM: %s", logged);
  return 0;
}

/* The host ends its JVM. Afterwards no exit handler of the plugin may enter the JVM, where it would wait for ever. */
static void end_jvm(JavaVM *vm, JNIEnv *env, bool by_system_exit) {
  alarm(60);
  if (!by_system_exit) {
    CHECK((*vm)->DestroyJavaVM(vm) == JNI_OK, "DestroyJavaVM failed");
    exit(0);
  }
  jclass system = (*env)->FindClass(env, "java/lang/System");
  jmethodID exit_method = (*env)->GetStaticMethodID(env, system, "exit", "(I)V");
  /* System.exit runs the exit handlers in one of the JVM's own threads */
  (*env)->CallStaticVoidMethod(env, system, exit_method, 0);
  CHECK(false, "System.exit returned");
}

int main(int count, char **arguments) {
  bool ends_jvm = count == 2 && arguments[1][0] != '/';
  if (count == 2 && !ends_jvm) {
    return too_old(arguments[1]);
  }
  JavaVM *vm = make_jvm("-Xmx64m");
  int errors = capture_stderr();
  const struct nccl_net_v12 *net = table_v12(load());
  void *context = init_v12(net, 1);
  use_v12(net);
  CHECK(net->finalize(context) == NCCL_SUCCESS, "finalize failed");
  context = init_v12(net, 2);
  use_v12(net);
  stderr_must_be_empty(errors);
  CHECK(strstr(logged, "has already") != NULL, "no line names the process's JVM");
  JNIEnv *env = NULL;
  CHECK((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) == JNI_OK, "the host's thread was detached from its JVM");
  CHECK((*env)->FindClass(env, "java/util/ArrayList") != NULL, "the host's JVM is broken");
  CHECK((*env)->FindClass(env, "io/heddle/plugin/PluginEntry") == NULL,
        "the plugin's classes are on the host's class path");
  (*env)->ExceptionClear(env);
  printf("ok: joined the host's JVM\n");
  fflush(stdout);
  if (ends_jvm) {
    end_jvm(vm, env, strcmp(arguments[1], "system-exit") == 0);
  }
  return 0;
}
