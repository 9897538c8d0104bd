/*
 * Makes the JVM of this process fault on purpose all the time. The JVM detects null references by reading through them,
 * and stops compiled loops at safepoints by an unreadable page. The installed signal handlers get these faults. This is
 * a library for C and Python hosts.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jni.h>

static int find(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  if (slash != NULL && strcmp(slash, "/libjvm.so") == 0) {
    *(const char **)out = info->dlpi_name;
    return 1;
  }
  return 0;
}

/* Alternates between null references and safepoints for a while. Returns 0, or the number of the failed step. */
int java_stress(int milliseconds) {
  const char *path = NULL;
  if (dl_iterate_phdr(find, &path) == 0) {
    return 1;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  jint (*created)(JavaVM **, jsize, jsize *);
  *__extension__(void **) & created = dlsym(library, "JNI_GetCreatedJavaVMs");
  JavaVM *vm = NULL;
  jsize count = 0;
  JNIEnv *env = NULL;
  if (created(&vm, 1, &count) != JNI_OK || count != 1) {
    return 2;
  }
  if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, NULL) != JNI_OK) {
    return 3;
  }
  jclass big = (*env)->FindClass(env, "java/math/BigInteger");
  jmethodID value_of = (*env)->GetStaticMethodID(env, big, "valueOf", "(J)Ljava/math/BigInteger;");
  jmethodID pow = (*env)->GetMethodID(env, big, "pow", "(I)Ljava/math/BigInteger;");
  jclass string = (*env)->FindClass(env, "java/lang/String");
  jmethodID concat = (*env)->GetMethodID(env, string, "concat", "(Ljava/lang/String;)Ljava/lang/String;");
  struct timespec start;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    if ((*env)->PushLocalFrame(env, 8) != JNI_OK) {
      return 4;
    }
    jobject three = (*env)->CallStaticObjectMethod(env, big, value_of, (jlong)3);
    jobject power = (*env)->CallObjectMethod(env, three, pow, (jint)60000);
    bool thrown = power == NULL || (*env)->ExceptionCheck(env);
    jstring empty = (*env)->NewStringUTF(env, "");
    (*env)->CallObjectMethod(env, empty, concat, NULL);
    bool null_found = (*env)->ExceptionCheck(env);
    (*env)->ExceptionClear(env);
    (*env)->PopLocalFrame(env, NULL);
    if (thrown || !null_found) {
      return 5;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < milliseconds);
  return 0;
}
