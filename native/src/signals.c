#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "shim.h"

/*
 * The JVM stops its threads, and finds null references, by deliberate faults. So the shim's handlers stand in front of
 * the host's. A fault is Java's only if Java was running: on one of Java's own threads, or on a host's thread inside an
 * upcall. Any other fault is the host's, as if there were no plugin. The host's handler may leave by siglongjmp() or
 * chain to the previous handler. Without a handler, the signal ends the process.
 */

static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0] };

/*
 * Each distinct action of the host gets a shim handler of its own, a front; its address alone identifies the action.
 * A handler installed over a front may pass a fault on to the handler that it replaced, by calling or restoring it.
 * The fault then reaches the action behind that front, and doesn't loop back to the new handler.
 */
#define FRONTS 32

/* Index of the front for the default action: the first front (handler of the shim) of each signal. */
enum { OF_DEFAULT };

static struct sigaction store[FAULT_COUNT][FRONTS];
/* actions of the host, by signal and front (handler of the shim); each is complete before its front is installed */
static _Atomic(struct sigaction *) behind[FAULT_COUNT][FRONTS];
static int used[FAULT_COUNT];
static int recycled[FAULT_COUNT];
static pthread_mutex_t refresh_lock = PTHREAD_MUTEX_INITIALIZER;

static heddle_jvm_handler handle_in_jvm;
static void *jvm_base; /* load address of libjvm */
static bool own_jvm;
static struct range { uintptr_t from, to; } jvm_code;
/*
 * Pointers to the bounds of compiled Java code, the interpreter's included. The JVM publishes these variables for
 * debuggers (gHotSpotVMStructs in vmStructs.hpp).
 */
static const uintptr_t *code_cache_low;
static const uintptr_t *code_cache_high;
static char report[HEDDLE_FAULT_REPORT_BYTES];
static struct sigaction before_creation[NSIG];

/* ---- faults ---- */

static int index_of(int number) {
  for (int i = 0; i < FAULT_COUNT; i++) {
    if (FAULTS[i] == number) {
      return i;
    }
  }
  return 0;
}

static bool install(int index, int front, struct sigaction *old);

/*
 * Applies the default action by removing the handler. The instruction then repeats, and the kernel raises a fault's
 * signal again. A signal that wouldn't recur is sent again, with its siginfo.
 */
static void apply_default(int number, siginfo_t *info) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(number, &action, NULL);
  bool is_repeated = info->si_code > 0;
#ifdef BUS_MCEERR_AO
  is_repeated = is_repeated && !(number == SIGBUS && info->si_code == BUS_MCEERR_AO);
#endif
  if (!is_repeated && syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info) != 0) {
    raise(number);
  }
}

static void pass_to_host(int index, int front, int number, siginfo_t *info, void *context) {
  const struct sigaction *action = atomic_load_explicit(&behind[index][front], memory_order_acquire);
  bool with_info = (action->sa_flags & SA_SIGINFO) != 0;
  if (!with_info && action->sa_handler == SIG_IGN && info->si_code <= 0) {
    return; /* only a signal sent by a process may be ignored; for a real fault, the kernel kills */
  }
  if (!with_info && (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)) {
    apply_default(number, info);
    return;
  }
  if ((action->sa_flags & SA_RESETHAND) != 0) {
    install(index, OF_DEFAULT, NULL);
  }
  if (with_info) {
    action->sa_sigaction(number, info, context);
  } else {
    action->sa_handler(number);
  }
}

static uintptr_t counter_of(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

static bool is_inside(const struct range *range, uintptr_t address) {
  return address >= range->from && address < range->to;
}

/* Returns whether the instruction at this address is the JVM's: in libjvm, or in compiled Java. */
static bool is_jvm_code(uintptr_t counter) {
  return is_inside(&jvm_code, counter) ||
         (code_cache_high != NULL && counter >= *code_cache_low && counter < *code_cache_high);
}

/*
 * Returns whether a fault is the JVM's or Heddle's, on a thread that the shim didn't attach. Called if the JVM's
 * handler hasn't recognised the fault. Heddle's threads are recognised by their names.
 */
static bool is_of_jvm(const void *context) {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return strncmp(name, "heddle-", 7) == 0 || is_jvm_code(counter_of(context));
}

/*
 * Prints where Java's report of a fault will be. Uses writev(), since a thread may have faulted with the logger's lock
 * held, and since this stack may be small.
 */
static void announce_report(int number) {
  static char begin[] =
      "NET/" HEDDLE_NAME ": signal 00 in the JVM's or Heddle's code, not in the host's; the report is ";
  static char end[] = "\n";
  char *digits = strchr(begin, '0');
  digits[0] = (char)('0' + number / 10);
  digits[1] = (char)('0' + number % 10);
  struct iovec words[] = {{.iov_base = begin, .iov_len = sizeof begin - 1},
                          {.iov_base = report, .iov_len = strlen(report)},
                          {.iov_base = end, .iov_len = 1}};
  ssize_t written = writev(STDERR_FILENO, words, 3);
  (void)written; /* there is no other place to report the failure */
}

/*
 * Passes a fault to the JVM, or to the host's action that this front (a handler of the shim) stands for. The code at
 * fault is checked even on a thread that is outside upcalls, since a host may run Java itself, by JNI, on a thread that
 * the shim attached.
 */
static void on_fault(int front, int number, siginfo_t *info, void *context) {
  int error = errno;
  int index = index_of(number);
  int runs = heddle_thread.runs;
  if (heddle_in_forked_child || (own_jvm && runs == HEDDLE_HOST && !is_jvm_code(counter_of(context)))) {
    pass_to_host(index, front, number, info, context);
  } else if (handle_in_jvm(number, info, context, 0)) {
    errno = error;
  } else if (own_jvm && (runs == HEDDLE_JAVA || (runs == HEDDLE_UNKNOWN && is_of_jvm(context)))) {
    announce_report(number);
    handle_in_jvm(number, info, context, 1);
  } else {
    pass_to_host(index, front, number, info, context);
  }
}

/* ---- fronts: the shim's handlers, one for each distinct action of the host ---- */

#define FRONT(n) \
  static void front_##n(int number, siginfo_t *info, void *context) { on_fault(n, number, info, context); }
#define EIGHT_FRONTS(n) FRONT(n##0) FRONT(n##1) FRONT(n##2) FRONT(n##3) FRONT(n##4) FRONT(n##5) FRONT(n##6) FRONT(n##7)
#define EIGHT_NAMES(n) \
  front_##n##0, front_##n##1, front_##n##2, front_##n##3, front_##n##4, front_##n##5, front_##n##6, front_##n##7
/* Front numbers are octal literals: EIGHT_FRONTS(n) appends the digits 0 to 7 to n. */
EIGHT_FRONTS(0)
EIGHT_FRONTS(01)
EIGHT_FRONTS(02)
EIGHT_FRONTS(03)

static void (*const FRONT[FRONTS])(int, siginfo_t *, void *) = {EIGHT_NAMES(0), EIGHT_NAMES(01), EIGHT_NAMES(02),
                                                                EIGHT_NAMES(03)};

/* Returns the number of the front (a handler of the shim) that an action calls, or -1 if it calls none. */
static int front_of(const struct sigaction *action) {
  for (int i = 0; i < FRONTS && (action->sa_flags & SA_SIGINFO) != 0; i++) {
    if (action->sa_sigaction == FRONT[i]) {
      return i;
    }
  }
  return -1;
}

static bool has_handler(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) != 0 || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/*
 * Installs a front (a handler of the shim) with the flags and the mask of the host's action behind it, so that this
 * action runs as if the kernel had called it.
 */
static bool install(int index, int front, struct sigaction *old) {
  const struct sigaction *host = atomic_load_explicit(&behind[index][front], memory_order_acquire);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = FRONT[front];
  action.sa_flags = SA_SIGINFO;
  if (has_handler(host)) {
    action.sa_flags |= host->sa_flags & ~(int)SA_RESETHAND;
    action.sa_mask = host->sa_mask;
  } else {
    action.sa_flags |= SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
  }
  return sigaction(FAULTS[index], &action, old) == 0;
}

static bool equal(const struct sigaction *one, const struct sigaction *other) {
  return one->sa_sigaction == other->sa_sigaction && one->sa_flags == other->sa_flags &&
         (!has_handler(one) || memcmp(&one->sa_mask, &other->sa_mask, sizeof one->sa_mask) == 0);
}

/*
 * Returns the number of the front (handler of the shim) for an action of the host. A new action gets a new front. If a
 * host keeps installing new handlers, its oldest fronts are reused. The actions behind these stay in memory, since a
 * handler may be reading them.
 */
static int front_for(int index, const struct sigaction *action) {
  for (int i = 0; i < used[index]; i++) {
    if (equal(atomic_load_explicit(&behind[index][i], memory_order_relaxed), action)) {
      return i;
    }
  }
  bool is_new = used[index] < FRONTS;
  int front = is_new ? used[index] : FRONTS / 2 + recycled[index] % (FRONTS / 2);
  struct sigaction *kept = is_new ? &store[index][front] : malloc(sizeof *kept);
  if (kept == NULL) {
    return -1;
  }
  *kept = *action;
  atomic_store_explicit(&behind[index][front], kept, memory_order_release);
  if (is_new) {
    used[index]++;
  } else {
    recycled[index]++;
  }
  return front;
}

static bool in_jvm(const struct sigaction *action) {
  Dl_info where;
  return has_handler(action) && dladdr(__extension__(void *) action->sa_handler, &where) != 0 &&
         where.dli_fbase == jvm_base;
}

/* Puts a front (a handler of the shim) before the signal's current handler. Returns true if a front was installed. */
static bool refresh_front(int index) {
  struct sigaction now;
  if (sigaction(FAULTS[index], NULL, &now) != 0 || front_of(&now) >= 0 || (!own_jvm && in_jvm(&now))) {
    return false;
  }
  /*
   * Another thread may install its own handler meanwhile; the shim then puts one of its own handlers (a front) before
   * that handler, too.
   */
  struct sigaction replaced;
  for (int i = 0; i < FRONTS; i++, now = replaced) {
    int front = front_for(index, &now);
    if (front < 0 || !install(index, front, &replaced)) {
      return false;
    }
    if (equal(&replaced, &now) || front_of(&replaced) >= 0) {
      return true;
    }
  }
  return true;
}

static int find_code(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  if (info->dlpi_addr != (uintptr_t)base) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
      jvm_code.from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      jvm_code.to = jvm_code.from + info->dlpi_phdr[i].p_memsz;
    }
  }
  return 1;
}

static size_t number_at(void *library, const char *name) {
  const uint64_t *number = dlsym(library, name);
  return number == NULL ? 0 : *number;
}

static void find_code_cache(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) return;
  const char *const *table = dlsym(library, "gHotSpotVMStructs");
  size_t stride = number_at(library, "gHotSpotVMStructEntryArrayStride");
  size_t type = number_at(library, "gHotSpotVMStructEntryTypeNameOffset");
  size_t field = number_at(library, "gHotSpotVMStructEntryFieldNameOffset");
  size_t address = number_at(library, "gHotSpotVMStructEntryAddressOffset");
  const char *entry = table == NULL || stride == 0 ? NULL : *table;
  for (const char *name; entry != NULL && (name = *(const char *const *)(entry + type)) != NULL; entry += stride) {
    if (strcmp(name, "CodeCache") != 0) continue;
    const char *member = *(const char *const *)(entry + field);
    const uintptr_t *value = *(const uintptr_t *const *)(entry + address);
    if (strcmp(member, "_low_bound") == 0) code_cache_low = value;
    if (strcmp(member, "_high_bound") == 0) code_cache_high = value;
  }
  if (code_cache_low == NULL) code_cache_high = NULL;
  dlclose(library);
}

static void set_jvm_handler(heddle_jvm_handler handle) {
  Dl_info where;
  if (handle != NULL && dladdr(__extension__(void *) handle, &where) != 0) {
    jvm_base = where.dli_fbase;
    dl_iterate_phdr(find_code, jvm_base);
    find_code_cache(where.dli_fname);
    handle_in_jvm = handle;
  }
}

void heddle_signals_attach(heddle_jvm_handler handle) {
  for (int i = 0; i < FAULT_COUNT; i++) {
    front_for(i, &(struct sigaction){.sa_handler = SIG_DFL});
  }
  set_jvm_handler(handle);
}

void heddle_signals_refresh(void) {
  if (handle_in_jvm == NULL || heddle_in_forked_child) {
    return;
  }
  int error = errno;
  if (pthread_mutex_trylock(&refresh_lock) == 0) {
    for (int i = 0; i < FAULT_COUNT; i++) {
      if (refresh_front(i)) {
        heddle_log(
            NCCL_LOG_INFO,
            "the host replaced the handler of signal %d (%s) after Java's start; Java's own faults are filtered out "
            "in front of that handler",
            FAULTS[i], strsignal(FAULTS[i]));
      }
    }
    pthread_mutex_unlock(&refresh_lock);
  }
  errno = error;
}

/* ---- the creation of a JVM ---- */

bool heddle_signals_before_creation(heddle_jvm_handler handle) {
  for (int number = 1; number < NSIG; number++) {
    if (sigaction(number, NULL, &before_creation[number]) != 0) {
      /* a signal of glibc's own, which can't be changed */
      before_creation[number] = (struct sigaction){.sa_handler = SIG_DFL};
    }
  }
  heddle_signals_attach(handle);
  if (handle_in_jvm == NULL) {
    return false;
  }
  own_jvm = true;
  pthread_mutex_lock(&refresh_lock);
  for (int i = 0; i < FAULT_COUNT; i++) {
    refresh_front(i);
  }
  pthread_mutex_unlock(&refresh_lock);
  return true;
}

/*
 * Returns whether Java keeps its handler of this signal. Java keeps its handlers of at most two signals, and only if
 * the host had the default action. By SIGRTMAX-2 Java wakes threads that wait on a closed channel; the default action
 * would end the process. SIGUSR2 keeps Java's handler only if the flight recorder, which needs the signal, is
 * requested: batch systems send SIGUSR2 before a job's time limit, and the host may rely on the default action.
 */
static bool keeps_java_handler(int number) {
  if (has_handler(&before_creation[number]) || before_creation[number].sa_handler != SIG_DFL) {
    return false;
  }
  const char *options = getenv("HEDDLE_JVM_OPTIONS");
  return number == SIGRTMAX - 2 || (number == SIGUSR2 && options != NULL && strstr(options, "FlightRecord") != NULL);
}

void heddle_signals_after_creation(bool created) {
  for (int number = 1; number < NSIG; number++) {
    struct sigaction now;
    const struct sigaction *before = &before_creation[number];
    bool is_fault = FAULTS[index_of(number)] == number;
    if ((created && (is_fault || keeps_java_handler(number))) || sigaction(number, NULL, &now) != 0 ||
        equal(&now, before)) {
      continue;
    }
    sigaction(number, before, NULL);
  }
}

void heddle_signals_report_in(const char *path) { snprintf(report, sizeof report, "%s", path); }
