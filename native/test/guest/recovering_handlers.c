/*
 * Handlers of the host that recover from a fault by siglongjmp(), by correcting the cause, or by chaining to another
 * handler. The host or a library installs them before init or after it. Messages continue meanwhile.
 *
 * GUEST CASE before_init before 1000
 * GUEST CASE after_init after 1000
 * GUEST CASE seen_late late 1000
 * GUEST CASE chained chained 1000
 * GUEST CASE put_back putback 1
 * GUEST CASE mending mending 1000
 * GUEST CASE installed_again again 1000
 * GUEST CASE many_handlers many 1000
 * GUEST CASE once once 1
 * GUEST CASE masks masks 1
 * GUEST CASE on_other_stack altstack 1000
 * GUEST CASE ignored ignored 1
 */
#include "guest.h"

#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf back;
static volatile int *volatile nowhere = (int *)8;
static int first_count, second_count;
static struct sigaction behind_second;
static volatile char *page;
static unsigned long blocked;

static unsigned long blocked_now(void) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  unsigned long bits = 0;
  for (int i = 1; i < 32; i++) bits |= sigismember(&now, i) == 1 ? 1UL << (i - 1) : 0;
  return bits;
}

static void first(int number, siginfo_t *info, void *context) {
  (void)context;
  MUST(number == SIGSEGV && info->si_addr == (void *)8, "a fault at %p", info->si_addr);
  first_count++;
  blocked = blocked_now();
  siglongjmp(back, 1);
}

static void plain(int number) {
  (void)number;
  first_count++;
  siglongjmp(back, 1);
}

/* Counts the fault and passes it to the previous handler, as crash reporters do. */
static void second(int number, siginfo_t *info, void *context) {
  second_count++;
  if ((behind_second.sa_flags & SA_SIGINFO) != 0) {
    behind_second.sa_sigaction(number, info, context);
  } else {
    behind_second.sa_handler(number);
  }
}

/* Restores the previous handler and returns to the faulting instruction, as Python's faulthandler does. */
static void restoring_handler(int number, siginfo_t *info, void *context) {
  (void)info;
  (void)context;
  second_count++;
  sigaction(number, &behind_second, NULL);
}

static void repairing_handler(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  (void)context;
  first_count++;
  mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}

static void install(void (*handler)(int, siginfo_t *, void *), int flags, struct sigaction *old) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGSEGV, &action, old);
}

static void fault(void) {
  if (sigsetjmp(back, 1) == 0) {
    *nowhere = 1;
  }
}

/*
 * Returns a copy of plain() at another address for each number. The test thus installs more handlers than the plugin
 * has fronts (signals.c).
 */
static void *copy_of_plain(int number) {
#if defined(__x86_64__)
  static char *code;
  if (code == NULL) code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return __extension__(void *) plain;
  char *at = code + number % 2000 * 16;
  void *target = __extension__(void *) plain;
  memcpy(at, "\x48\xb8", 2); /* machine code: mov rax, target; jmp rax */
  memcpy(at + 2, &target, 8);
  memcpy(at + 10, "\xff\xe0", 2);
  return at;
#else
  (void)number;
  return __extension__(void *) plain;
#endif
}

int main(int count, char **arguments) {
  MUST(count == 3, "two arguments");
  const char *how = arguments[1];
  int times = atoi(arguments[2]);
  bool is_before = strcmp(how, "before") == 0 || strcmp(how, "chained") == 0 || strcmp(how, "putback") == 0;
  if (is_before) install(first, SA_NODEFER, NULL);
  guest_init();
  struct guest_link link;
  guest_connect(&link, 4096);
  MUST(guest_message(&link, 1) == NCCL_SUCCESS, "no message");
  if (strcmp(how, "chained") == 0) install(second, 0, &behind_second);
  if (strcmp(how, "putback") == 0) install(restoring_handler, 0, &behind_second);
  if (strcmp(how, "after") == 0 || strcmp(how, "late") == 0) install(first, 0, NULL);
  if (strcmp(how, "masks") == 0) install(first, SA_NODEFER, NULL);
  if (strcmp(how, "once") == 0) {
    struct sigaction action = {.sa_handler = plain, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGSEGV, &action, NULL);
  }
  if (strcmp(how, "altstack") == 0) {
    stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&other, NULL);
    install(first, SA_ONSTACK, NULL);
  }
  if (strcmp(how, "mending") == 0) {
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    install(repairing_handler, 0, NULL);
  }
  if (strcmp(how, "ignored") == 0) {
    signal(SIGSEGV, SIG_IGN);
    guest_control();
    raise(SIGSEGV); /* the host ignores this sent signal; a fault would end the process */
    printf("lives\n");
    return 0;
  }
  if (strcmp(how, "late") != 0) guest_control(); /* from this call on the plugin knows the handler */
  for (int i = 0; i < times; i++) {
    if (strcmp(how, "mending") == 0) {
      mprotect((void *)page, 4096, PROT_NONE);
      page[0] = 1;
    } else {
      if (strcmp(how, "again") == 0) install(i % 2 == 0 ? first : second, 0, i % 2 == 0 ? NULL : &behind_second);
      if (strcmp(how, "many") == 0) {
        struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NODEFER};
        *(void **)&action.sa_handler = copy_of_plain(i);
        sigaction(SIGSEGV, &action, NULL);
      }
      if (i % 100 == 99 || strcmp(how, "many") == 0 || strcmp(how, "again") == 0) guest_control();
      fault();
    }
    if (i % 100 == 0) MUST(guest_message(&link, i) == NCCL_SUCCESS, "no message after %d faults", i);
  }
  printf("%d faults, %d of them handed on, last with %lx blocked, now %lx\n", first_count, second_count, blocked,
         blocked_now());
  fflush(stdout);
  if (strcmp(how, "once") == 0) fault(); /* this fault ends the process */
  MUST(guest_message(&link, 3) == NCCL_SUCCESS, "no message");
  return 0;
}
