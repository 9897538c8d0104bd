/*
 * A host that uses the plugin's JVM itself, like libraries that look for an existing JVM (libhdfs, JPype).
 *
 * GUEST CASE collections_at_exit exit -- repeat=6
 * GUEST CASE java_on_attached_thread run
 * GUEST CASE other_compiled_code compiled
 * GUEST CASE process_of_java process
 * GUEST CASE process_of_java_without_stdin process -- under="sh -c 'exec \"$@\" <&-' sh"
 */
#include "guest.h"

#include <jni.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static JavaVM *vm;

static int find_libjvm(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  if (slash == NULL || strcmp(slash, "/libjvm.so") != 0) return 0;
  *(const char **)out = info->dlpi_name;
  return 1;
}

/* Finds the plugin's JVM. A run without the plugin has none. */
static void find_vm(void) {
  const char *path = NULL;
  if (dl_iterate_phdr(find_libjvm, &path) == 0) return;
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  jint (*created)(JavaVM **, jsize, jsize *);
  *__extension__(void **) & created = dlsym(library, "JNI_GetCreatedJavaVMs");
  jsize count = 0;
  MUST(created(&vm, 1, &count) == JNI_OK && count == 1, "no JVM");
}

static JNIEnv *attached(void) {
  JNIEnv *env = NULL;
  MUST((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, NULL) == JNI_OK, "not attached");
  return env;
}

/*
 * Collects garbage most of the time. Each collection stops all threads. A thread that runs compiled code stops at an
 * unreadable page.
 */
static void *collect(void *none) {
  JNIEnv *env = attached();
  jclass system = (*env)->FindClass(env, "java/lang/System");
  jmethodID gc = (*env)->GetStaticMethodID(env, system, "gc", "()V");
  for (;;) {
    (*env)->CallStaticVoidMethod(env, system, gc);
    guest_nap_us(3000);
  }
  return none;
}

/* Runs compiled loops on a thread that also moves data through the plugin. */
static void sort_numbers(void) {
  enum { COUNT = 200000, ROUNDS = 60 };
  static jint numbers[COUNT];
  JNIEnv *env = attached();
  jclass arrays = (*env)->FindClass(env, "java/util/Arrays");
  jmethodID sort = (*env)->GetStaticMethodID(env, arrays, "sort", "([I)V");
  jintArray array = (*env)->NewIntArray(env, COUNT);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < COUNT; i++) numbers[i] = (jint)((unsigned)i * 2654435761u);
    (*env)->SetIntArrayRegion(env, array, 0, COUNT, numbers);
    (*env)->CallStaticVoidMethod(env, arrays, sort, array);
  }
}

static sigjmp_buf recovery;

static void recover(int number) { siglongjmp(recovery, number); }

/*
 * Runs machine code that faults, as another runtime might compile it, on a thread that the host itself attached to the
 * JVM.
 */
static void *run_compiled_code(void *none) {
#if defined(__x86_64__)
  static const unsigned char load_from_0[] = {0x31, 0xc0, 0x8b, 0x00, 0xc3};
#else
  static const unsigned char load_from_0[] = {0x00, 0x00, 0x80, 0xd2, 0x00, 0x00, 0x40, 0xb9, 0xc0, 0x03, 0x5f, 0xd6};
#endif
  if (vm != NULL) attached();
  void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(code != MAP_FAILED, "no memory");
  memcpy(code, load_from_0, sizeof load_from_0);
  MUST(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0, "not executable");
  __builtin___clear_cache((char *)code, (char *)code + sizeof load_from_0);
  void (*run)(void);
  memcpy(&run, &code, sizeof run);
  int number = sigsetjmp(recovery, 1);
  if (number == 0) run();
  printf("recovered from %d\n", number);
  return none;
}

/* Returns the exit status of a program that Java starts; without the plugin, that of one which the host starts. */
static int status_of_program(void) {
  if (vm == NULL) return WEXITSTATUS(system("exit 7"));
  JNIEnv *env = attached();
  jclass text = (*env)->FindClass(env, "java/lang/String");
  jobjectArray words = (*env)->NewObjectArray(env, 3, text, NULL);
  const char *command[] = {"sh", "-c", "exit 7"};
  for (int i = 0; i < 3; i++) {
    (*env)->SetObjectArrayElement(env, words, i, (*env)->NewStringUTF(env, command[i]));
  }
  jclass builder = (*env)->FindClass(env, "java/lang/ProcessBuilder");
  jobject made =
      (*env)->NewObject(env, builder, (*env)->GetMethodID(env, builder, "<init>", "([Ljava/lang/String;)V"), words);
  jobject process =
      (*env)->CallObjectMethod(env, made, (*env)->GetMethodID(env, builder, "start", "()Ljava/lang/Process;"));
  if ((*env)->ExceptionCheck(env)) {
    (*env)->ExceptionDescribe(env);
    return -1;
  }
  jmethodID wait = (*env)->GetMethodID(env, (*env)->FindClass(env, "java/lang/Process"), "waitFor", "()I");
  return (*env)->CallIntMethod(env, process, wait);
}

int main(int count, char **arguments) {
  MUST(count == 2, "one argument");
  signal(SIGSEGV, recover);
  guest_init();
  struct guest_link link;
  guest_connect(&link, 4096);
  MUST(guest_message(&link, 1) == NCCL_SUCCESS, "no message");
  find_vm();
  pthread_t thread;
  if (strcmp(arguments[1], "compiled") == 0) {
    MUST(pthread_create(&thread, NULL, run_compiled_code, NULL) == 0 && pthread_join(thread, NULL) == 0, "no thread");
    return 0;
  }
  if (strcmp(arguments[1], "process") == 0) {
    printf("status %d\n", status_of_program());
    return 0;
  }
  if (vm != NULL) MUST(pthread_create(&thread, NULL, collect, NULL) == 0, "no thread");
  if (vm != NULL && strcmp(arguments[1], "run") == 0) sort_numbers();
  guest_nap_us(50000);
  MUST(guest_message(&link, 2) == NCCL_SUCCESS, "no message");
  printf("done\n");
  return 0;
}
