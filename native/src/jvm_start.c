#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

JavaVM *heddle_vm = NULL;

static bool own_jvm;
/* True after a creation that failed half-way: this process can't create another JVM. */
static bool creation_failed;

/* JNI's version number is the same for Java 24 and 25, but their class files differ in version. */
#define JNI_OF_JAVA_24 0x00180000

typedef jint (*get_created_vms)(JavaVM **, jsize, jsize *);
typedef jint (*create_vm)(JavaVM **, void **, void *);

/* ---- the host's own JVM ---- */

static int find_loaded(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  if (slash != NULL && strcmp(slash, "/libjvm.so") == 0) {
    snprintf(out, PATH_MAX, "%s", info->dlpi_name);
    return 1;
  }
  return 0;
}

static heddle_jvm_handler signal_handler_of(void *library) {
  heddle_jvm_handler handle;
  *__extension__(void **) & handle = dlsym(library, "JVM_handle_linux_signal");
  return handle;
}

/* The host's libjvm may be loaded RTLD_LOCAL, so the symbol is looked up in the library itself. */
static JavaVM *existing_vm(void) {
  char path[PATH_MAX] = "";
  if (dl_iterate_phdr(find_loaded, path) == 0) {
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) {
    return NULL;
  }
  get_created_vms created;
  *__extension__(void **) & created = dlsym(library, "JNI_GetCreatedJavaVMs");
  JavaVM *vm = NULL;
  jsize count = 0;
  if (created == NULL || created(&vm, 1, &count) != JNI_OK || count == 0) {
    dlclose(library);
    return NULL;
  }
  heddle_signals_attach(signal_handler_of(library));
  heddle_log(NCCL_LOG_INFO, "using the JVM that this process has already (%s)", path);
  return vm;
}

/* ---- a JVM created by the shim ---- */

static char jvm_messages[512]; /* messages of the JVM during its creation */
static pthread_t creator;
static bool creating;
static jmp_buf creation_aborted;

/*
 * Collects the JVM's messages, which -Xlog:disable hides. The first messages become part of the shim's warning about
 * the failure.
 */
static jint JNICALL on_message(FILE *stream, const char *format, va_list arguments) {
  if (creating && pthread_equal(creator, pthread_self())) {
    size_t used = strlen(jvm_messages);
    int written = vsnprintf(jvm_messages + used, sizeof jvm_messages - used, format, arguments);
    for (char *c = jvm_messages + used; *c != '\0'; c++) {
      *c = *c == '\n' ? ' ' : *c;
    }
    return written;
  }
  return vfprintf(stream, format, arguments);
}

/*
 * The JVM's abort hook. The JVM ends the process after this call if it can't be created (no address space for the heap,
 * say). A plugin may not end the process, since NCCL has other transports. So the creating thread never returns into
 * the JVM, and the memory and locks that it took stay taken.
 */
static void JNICALL on_abort(void) {
  if (creating && pthread_equal(creator, pthread_self())) {
    longjmp(creation_aborted, 1);
  }
}

#define MOST_OPTIONS 64

struct options {
  JavaVMOption list[MOST_OPTIONS];
  int count;
  int processors; /* number of processors that this process may use */
  char class_path[PATH_MAX + 32];
  char archive[PATH_MAX + 32];
  char report[HEDDLE_FAULT_REPORT_BYTES];
  char seal[64], take[64], send[64], receive[64], ready[64], send_pages[64];
  char *more; /* a copy of HEDDLE_JVM_OPTIONS, cut at spaces */
};

static bool add(struct options *options, const char *text, void *extra) {
  if (options->count == MOST_OPTIONS) {
    heddle_log(NCCL_LOG_WARN, "HEDDLE_JVM_OPTIONS has too many options; at most %d are used", MOST_OPTIONS);
    return false;
  }
  options->list[options->count].optionString = (char *)text;
  options->list[options->count].extraInfo = extra;
  options->count++;
  return true;
}

/*
 * membarrier(2) saves a quarter of every transition between C and Java. If a container's filter forbids this call, the
 * JVM works without it, but prints a warning on the host's standard error. So the shim tries the call first.
 */
static bool has_membarrier(void) {
  long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  long needed = MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
  return commands >= 0 && (commands & needed) == needed;
}

/*
 * On a host with few processors, the C2 compiler competes with the threads that run the compiled code. With C2, the
 * first all-reduces of two ranks on two processors took 2 to 25 times as long as with C1 alone. In the long run, C1's
 * code is slower than C2's: by 15 % for large messages, by 30 % for messages of a few bytes.
 * HEDDLE_JVM_OPTIONS=-XX:TieredStopAtLevel=4 enables both compilers.
 */
#define FEW_PROCESSORS 4

static int allowed_processors(void) {
  cpu_set_t allowed;
  /* sched_getaffinity() fails on hosts with more processors than a cpu_set_t holds. */
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : CPU_SETSIZE;
}

/*
 * Three methods that each foreign call or memory access uses. They are slightly too long for C1's inlining limit. These
 * options make C1 inline them, and an empty poll of libibverbs then takes 6 ns instead of 16. A higher general inlining
 * limit would delay the start by half a second.
 */
static const char *const INLINED[] = {
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=inline,jdk.internal.foreign.abi.SharedUtils::checkNative",
    "-XX:CompileCommand=inline,jdk.internal.foreign.AbstractMemorySegmentImpl::equals",
    "-XX:CompileCommand=inline,jdk.internal.misc.Unsafe::convEndian",
    /* Allows deeper inlining, but not of longer methods: a write of native memory is nine nested calls. */
    "-XX:C1MaxInlineLevel=20",
};

/* Passes Java the address of a function of packets.c or socket_calls.c, as a system property. */
static void add_call(struct options *options, char text[64], const char *name, heddle_critical_call call) {
  if (call == NULL) return;
  snprintf(text, 64, "-Dheddle.%s=%jd", name, (intmax_t)(intptr_t)call);
  add(options, text, NULL);
}

static bool collect_options(struct options *options, const char *folder, const char *jar) {
  static const char *const FIXED[] = {
      "-Xrs",             /* leaves INT, TERM, HUP and QUIT to the host */
      "-XX:+UseSerialGC", /* has the fewest threads; the data path doesn't allocate */
      /*
       * Size of the heap. A connection over four planes takes some 45 KiB, and there may be 1,024 connections. The JVM
       * never touches unused pages of the heap, except in the young generation, which garbage fills whatever its size.
       */
      "-Xmn12m",
      "-Xmx256m",
      "-Xss512k",
      /* Sets no guard pages in the stack of the host's first thread, even if this thread moves data. */
      "-XX:+UnlockExperimentalVMOptions",
      "-XX:+DisablePrimordialThreadGuardPages",
      "--finalization=disabled",     /* no class here has finalizers, and the finalizer would be a thread */
      "-XX:-UsePerfData",            /* creates no file in /tmp */
      "-XX:+DisableAttachMechanism", /* creates neither a socket in /tmp nor a thread for it */
      "--enable-native-access=ALL-UNNAMED",
      "-Xlog:disable", /* standard output belongs to the host */
      /*
       * Java's default, set explicitly. Otherwise, Java would read its security properties for the first internet
       * address (5 ms).
       */
      "-Djdk.includeInExceptions=hostInfoExclSocket",
  };
  memset(options, 0, sizeof *options);
  void *message_hook;
  void *abort_hook;
  *__extension__(jint(JNICALL **)(FILE *, const char *, va_list)) & message_hook = on_message;
  *__extension__(void(JNICALL **)(void)) & abort_hook = on_abort;
  add(options, "vfprintf", message_hook);
  add(options, "abort", abort_hook);
  snprintf(options->class_path, sizeof options->class_path, "-Djava.class.path=%s", jar);
  add(options, options->class_path, NULL);
  for (size_t i = 0; i < sizeof FIXED / sizeof FIXED[0]; i++) {
    add(options, FIXED[i], NULL);
  }
  heddle_fault_report(options->report);
  add(options, options->report, NULL);
  if (has_membarrier()) {
    add(options, "-XX:+UseSystemMemoryBarrier", NULL);
  }
  struct heddle_packet_calls packets = heddle_packet_calls(0);
  add_call(options, options->seal, "packet.seal", packets.seal);
  add_call(options, options->take, "packet.take", packets.take);
  add_call(options, options->send, "socket.send", heddle_socket_calls.send);
  add_call(options, options->receive, "socket.receive", heddle_socket_calls.receive);
  add_call(options, options->ready, "socket.ready", heddle_socket_calls.ready);
  add_call(options, options->send_pages, "socket.send_pages", heddle_socket_calls.send_pages);
  options->processors = allowed_processors();
  if (options->processors < FEW_PROCESSORS) {
    add(options, "-XX:TieredStopAtLevel=1", NULL);
    for (size_t i = 0; i < sizeof INLINED / sizeof INLINED[0]; i++) {
      add(options, INLINED[i], NULL);
    }
  }
  char archive[PATH_MAX];
  if (snprintf(archive, sizeof archive, "%s/heddle.jsa", folder) < (int)sizeof archive && access(archive, R_OK) == 0) {
    snprintf(options->archive, sizeof options->archive, "-XX:SharedArchiveFile=%s", archive);
    add(options, options->archive, NULL);
  }
  const char *more = getenv("HEDDLE_JVM_OPTIONS");
  options->more = strdup(more == NULL ? "" : more);
  if (options->more == NULL) {
    return false;
  }
  char *rest = NULL;
  for (char *word = strtok_r(options->more, " \t\n", &rest); word != NULL; word = strtok_r(NULL, " \t\n", &rest)) {
    if (!add(options, word, NULL)) {
      return false;
    }
  }
  return true;
}

/*
 * Two classes of Java set signal dispositions when they are initialised. Java would initialise one at its first read of
 * an environment variable, the other at its first channel. The shim initialises both now, so that it can restore these
 * dispositions together with the others.
 */
static void load_signal_classes(JNIEnv *env) {
  static const char *const CLASSES[] = {"java/lang/ProcessImpl" /* SIGCHLD */,
                                        "sun/nio/ch/NativeThread" /* SIGRTMAX-2 */};
  for (size_t i = 0; i < sizeof CLASSES / sizeof CLASSES[0]; i++) {
    (*env)->FindClass(env, CLASSES[i]);
    (*env)->ExceptionClear(env); /* a Java release without this class sets no dispositions for it */
  }
}

static JavaVM *create(const char *folder, const char *jar, JNIEnv **env) {
  struct heddle_jvm_choice choice;
  if (!heddle_jvm_find(folder, &choice)) {
    heddle_log(
        NCCL_LOG_WARN,
        "no Java runtime of version 25 or later (%s). Install one (Debian and Ubuntu: temurin-25-jre of "
        "packages.adoptium.net; RHEL: java-25-openjdk-headless; elsewhere unpack a JDK) or set HEDDLE_JAVA_HOME to "
        "its folder; Heddle's own packages bring one",
        choice.rejected);
    return NULL;
  }
  if (!heddle_start_has_threads_and_memory() || !heddle_java_may_run()) {
    return NULL;
  }
  /* RTLD_LOCAL hides the library's many symbols from the host. The runtime's other libraries link to it by name. */
  void *library = dlopen(choice.library, RTLD_NOW | RTLD_LOCAL);
  create_vm create_java_vm = NULL;
  if (library != NULL) {
    *__extension__(void **) & create_java_vm = dlsym(library, "JNI_CreateJavaVM");
  }
  if (create_java_vm == NULL) {
    heddle_log(NCCL_LOG_WARN, "can't load the Java runtime %s (by %s): %s", choice.library, choice.source, dlerror());
    return NULL;
  }
  static struct options options; /* never freed, since the JVM keeps pointers into the text */
  if (!collect_options(&options, folder, jar)) {
    return NULL;
  }
  JavaVMInitArgs arguments = {
      .version = JNI_VERSION_10, .nOptions = options.count, .options = options.list, .ignoreUnrecognized = JNI_FALSE};
  JavaVM *volatile vm = NULL;
  volatile jint result = JNI_ERR;
  if (heddle_signals_before_creation(signal_handler_of(library)) &&
      !add(&options, "-XX:+AllowUserSignalHandlers", NULL)) {
    heddle_signals_after_creation(false);
    return NULL;
  }
  arguments.nOptions = options.count;
  heddle_java_library_hooks_install(library, choice.library, jar);
  heddle_locale_keep(choice.library);
  heddle_tool_options_hide(library);
  creator = pthread_self();
  jvm_messages[0] = '\0';
  if (setjmp(creation_aborted) == 0) {
    creating = true;
    result = create_java_vm((JavaVM **)&vm, (void **)env, &arguments);
  } else {
    creation_failed = true;
  }
  creating = false;
  heddle_tool_options_show();
  heddle_locale_restore();
  if (result == JNI_OK) {
    load_signal_classes(*env);
  }
  /* Keeps the shim's handlers if the creation was abandoned, since threads of that JVM may still fault on purpose. */
  heddle_signals_after_creation(result == JNI_OK || creation_failed);
  if (result != JNI_OK) {
    const char *more = getenv("HEDDLE_JVM_OPTIONS");
    struct heddle_tool_options obeyed = heddle_tool_options_in_effect();
    heddle_log(
        NCCL_LOG_WARN,
        "Java %s at %s (by %s) did not start: JNI_CreateJavaVM returned %d%s%s%s; HEDDLE_JVM_OPTIONS is %s%s%s%s",
        choice.version, choice.home, choice.source, (int)result, jvm_messages[0] == '\0' ? "" : ", ", jvm_messages,
        heddle_thread_limits_suffix(jvm_messages).text, more == NULL ? "not set" : more,
        obeyed.text[0] == '\0' ? "" : "; this Java obeys ", obeyed.text,
        creation_failed ? "; this process can't try again" : "");
    return NULL;
  }
  heddle_log(NCCL_LOG_INFO, "Java %s at %s, by %s%s%s%s%s%s", choice.version, choice.home, choice.source,
             options.archive[0] == '\0' ? ", no class archive" : ", class archive beside the plugin",
             options.processors < FEW_PROCESSORS ? ", C1 compiler only (few processors)" : "",
             choice.rejected[0] == '\0' ? "" : " (", choice.rejected, choice.rejected[0] == '\0' ? "" : ")");
  return vm;
}

/* ---- both kinds of JVM ---- */

struct boot {
  struct heddle_host *host;
  struct heddle_calls *calls;
  int result;
};

static bool find_jar(const char *library, char *folder, char *jar) {
  snprintf(folder, PATH_MAX, "%s", library);
  char *slash = strrchr(folder, '/');
  if (slash != NULL) {
    *slash = '\0';
  }
  if (snprintf(jar, PATH_MAX, "%s/heddle-plugin.jar", folder) >= PATH_MAX || access(jar, R_OK) != 0) {
    heddle_log(NCCL_LOG_WARN, "can't read %s (%s); it belongs beside %s", jar, strerror(errno), library);
    return false;
  }
  return true;
}

static void *start_on_thread(void *argument) {
  struct boot *task = argument;
  pthread_setname_np(pthread_self(), "heddle-start");
  heddle_mark_java_thread();
  task->result = NCCL_SYSTEM_ERROR;
  char folder[PATH_MAX];
  char jar[PATH_MAX];
  if (!find_jar(task->host->library_path, folder, jar)) {
    return NULL;
  }
  static JavaVM *vm; /* kept if only the start of Java's part failed: the next init retries that part */
  JNIEnv *env = NULL;
  if (vm == NULL) {
    vm = existing_vm();
    own_jvm = vm == NULL;
    if (own_jvm) {
      vm = create(folder, jar, &env);
    }
  }
  if (vm == NULL) {
    return NULL;
  }
  if (env == NULL) {
    JavaVMAttachArgs arguments = {.version = JNI_VERSION_10, .name = "heddle-start", .group = NULL};
    jint result = (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &arguments);
    if (result != JNI_OK) {
      heddle_log(NCCL_LOG_WARN, "the JVM of this process refused to attach a thread (error %d)", (int)result);
      return NULL;
    }
  }
  if (!own_jvm && (*env)->GetVersion(env) < JNI_OF_JAVA_24) {
    heddle_log(NCCL_LOG_WARN,
               "the JVM that this process has already is older than Java 25, and a process can't have two; "
               "start the host with Java 25");
  } else if (heddle_java_enter(env, own_jvm, jar, task->host, task->calls)) {
    __atomic_store_n(&heddle_vm, vm, __ATOMIC_RELEASE);
    task->result = NCCL_SUCCESS;
  }
  (*vm)->DetachCurrentThread(vm);
  return NULL;
}

/*
 * A separate thread creates the JVM. Its stack is known to be large enough. It blocks all signals, which the JVM's own
 * threads inherit, so the JVM's threads never take a signal that the host's threads wait for. (The JVM itself unblocks
 * the fault signals in its threads.)
 */
int heddle_jvm_start(struct heddle_host *host, struct heddle_calls *calls) {
  if (creation_failed) {
    heddle_log(NCCL_LOG_WARN, "Java failed to start in this process before; the reason is in an earlier line");
    return NCCL_SYSTEM_ERROR;
  }
  if (access("/proc/self/maps", R_OK) != 0) {
    /*
     * The JVM reads the first thread's stack from /proc/self/maps. If this file can't be read, the JVM ends the process
     * when that thread enters.
     */
    heddle_log(
        NCCL_LOG_WARN,
        "Java can't find the stack of this process's first thread (%s); mount /proc and make /proc/self/maps readable",
        strerror(errno));
    return NCCL_SYSTEM_ERROR;
  }
  if (!heddle_start_has_descriptors()) {
    return NCCL_SYSTEM_ERROR;
  }
  struct boot task = {.host = host, .calls = calls, .result = NCCL_SYSTEM_ERROR};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 2 * 1024 * 1024);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, start_on_thread, &task);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    heddle_log_missing_threads(0, error);
    return NCCL_SYSTEM_ERROR;
  }
  pthread_join(thread, NULL);
  return task.result;
}
