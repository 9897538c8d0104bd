/* A JVM of HEDDLE_JAVA_HOME, created by the host instead of the plugin. */
#ifndef HEDDLE_TEST_TEST_JVM_H
#define HEDDLE_TEST_TEST_JVM_H

#include "harness.h"

#include <jni.h>

static inline JavaVM *make_jvm(const char *option) {
  const char *home = getenv("HEDDLE_JAVA_HOME");
  CHECK(home != NULL, "HEDDLE_JAVA_HOME must name the JDK");
  char path[4096];
  snprintf(path, sizeof path, "%s/lib/server/libjvm.so", home);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL, "dlopen: %s", dlerror());
  jint (*create)(JavaVM **, void **, void *);
  *__extension__(void **) & create = dlsym(library, "JNI_CreateJavaVM");
  JavaVMOption options[] = {{.optionString = (char *)option}};
  JavaVMInitArgs arguments = {.version = JNI_VERSION_10, .nOptions = 1, .options = options};
  JavaVM *vm = NULL;
  JNIEnv *env = NULL;
  jint result = create(&vm, (void **)&env, &arguments);
  CHECK(result == JNI_OK, "JNI_CreateJavaVM returned %d", (int)result);
  return vm;
}

#endif
