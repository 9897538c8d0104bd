/* The host has a virtual machine already (a Spark executor, say), made without any of our options. */
#include "harness.h"

#include <fcntl.h>

#include <jni.h>

#include "jvm_of_test.h"

int main(void) {
  JavaVM *vm = make_machine("-Xmx64m");
  char errors[] = "/tmp/heddle-existing-machine-XXXXXX";
  int file = mkstemp(errors);
  int saved = dup(STDERR_FILENO);
  CHECK(file >= 0 && saved >= 0, "no temporary file");
  dup2(file, STDERR_FILENO);
  const struct nccl_net_v12 *net = table_v12(load());
  void *context = init_v12(net, 1);
  use_v12(net);
  CHECK(net->finalize(context) == NCCL_SUCCESS, "finalize failed");
  use_v12(net);
  dup2(saved, STDERR_FILENO);
  char words[512] = "";
  ssize_t length = pread(file, words, sizeof words - 1, 0);
  close(file);
  unlink(errors);
  CHECK(length == 0, "the host's standard error got: %s", words);
  CHECK(strstr(logged, "has already") != NULL, "the machine of the process was not mentioned");
  JNIEnv *env = NULL;
  CHECK((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) == JNI_OK, "the host's thread lost its machine");
  CHECK((*env)->FindClass(env, "java/util/ArrayList") != NULL, "the host's machine is broken");
  CHECK((*env)->FindClass(env, "io/heddle/plugin/PluginEntry") == NULL, "our classes are on the host's class path");
  (*env)->ExceptionClear(env);
  printf("ok: joined the host's machine\n");
  return 0;
}
