/*
 * An ordinary host that moves data and has children, under usual launchers and environments.
 *
 * GUEST CASE plain
 * GUEST CASE jemalloc -- env.LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2 \
 *     needs=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2
 * GUEST CASE tcmalloc -- env.LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4 \
 *     needs=/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4
 * GUEST CASE strace -- under="strace -f -o /dev/null" seconds=120
 * GUEST CASE gdb -- under="gdb -batch -nx -ex 'handle SIGSEGV nostop noprint pass' -ex run --args" \
 *     differs=stdout,stderr status=0
 * GUEST CASE no_user -- under="setpriv --reuid=54321 --regid=54321 --clear-groups" needs=root
 * GUEST CASE few_privileges -- under="setpriv --bounding-set=-all --inh-caps=-all --no-new-privs" needs=root
 * GUEST CASE no_proc -- under="unshare -m sh -c 'umount -l /proc && exec \"$@\"' sh" \
 *     needs=root with.GUEST_MAY_REFUSE=1 log="make /proc/self/maps readable"
 * GUEST CASE no_sys -- under="unshare -m sh -c 'umount -l /sys && exec \"$@\"' sh" needs=root
 * GUEST CASE read_only_root -- needs=root \
 *     under="unshare -m sh -c 'mount --bind /tmp /tmp && mount -o remount,bind,ro / && exec \"$@\"' sh"
 * GUEST CASE killing_filter filter
 * GUEST CASE frozen freeze -- needs=root seconds=120
 * GUEST CASE address_sanitizer -- build=asan env.ASAN_OPTIONS=detect_leaks=0
 * GUEST CASE thread_sanitizer -- build=tsan env.TSAN_OPTIONS=ignore_noninstrumented_modules=1 seconds=120
 * GUEST CASE idle_priority -- under="nice -n 19"
 * GUEST CASE unlimited_stack -- stack=unlimited
 * GUEST CASE small_stack -- stack=512
 */
#include "guest.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static void expect(pid_t child, int expected, const char *what) {
  int status = -1;
  MUST(child > 0 && waitpid(child, &status, 0) == child, "%s: no child", what);
  MUST(WIFEXITED(status) && WEXITSTATUS(status) == expected, "%s: status %#x", what, (unsigned)status);
  printf("%s: %d\n", what, expected);
}

/* Ends the process at system calls that container runtimes refuse by default. */
static void kill_at_privileged_calls(void) {
  static const unsigned calls[] = {SYS_acct,
                                   SYS_add_key,
                                   SYS_bpf,
                                   SYS_clock_settime,
                                   SYS_keyctl,
                                   SYS_kexec_load,
                                   SYS_mount,
                                   SYS_move_pages,
                                   SYS_open_by_handle_at,
                                   SYS_perf_event_open,
                                   SYS_pivot_root,
                                   SYS_process_vm_readv,
                                   SYS_ptrace,
                                   SYS_reboot,
                                   SYS_setns,
                                   SYS_umount2,
                                   SYS_unshare,
                                   SYS_userfaultfd};
  enum { COUNT = sizeof calls / sizeof calls[0] };
  struct sock_filter rules[COUNT + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (int i = 0; i < COUNT; i++) {
    rules[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], (unsigned char)(COUNT - i), 0);
  }
  rules[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  rules[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  struct sock_fprog program = {COUNT + 3, rules};
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no PR_SET_NO_NEW_PRIVS");
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "no filter");
}

static bool write_text(const char *folder, const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
  if (file >= 0) close(file);
  return written;
}

/*
 * Continues in a child, which the parent freezes by a control group, for longer than a connection waits for answers.
 * The parent ends with the child's status.
 */
static void freeze_once(void) {
  enum { RUN_US = 1500000, FROZEN_US = 12000000 };
  char folder[128];
  bool version1 = access("/sys/fs/cgroup/freezer/tasks", W_OK) == 0;
  snprintf(folder, sizeof folder, "/sys/fs/cgroup/%sguest-%d", version1 ? "freezer/" : "", (int)getpid());
  if (mkdir(folder, 0755) != 0) {
    printf("no cgroup can be made here\n");
    exit(77);
  }
  pid_t child = fork();
  if (child == 0) {
    MUST(write_text(folder, "cgroup.procs", "0"), "not in the cgroup");
    return;
  }
  guest_nap_us(RUN_US);
  MUST(write_text(folder, version1 ? "freezer.state" : "cgroup.freeze", version1 ? "FROZEN" : "1"), "not frozen");
  guest_nap_us(FROZEN_US);
  MUST(write_text(folder, version1 ? "freezer.state" : "cgroup.freeze", version1 ? "THAWED" : "0"), "not thawed");
  int status = -1;
  MUST(waitpid(child, &status, 0) == child, "no child");
  rmdir(folder);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static int rounds = 20;

static void *move_data(void *link) {
  guest_connect(link, 1 << 16);
  for (int i = 0; i < rounds; i++) {
    MUST(guest_message(link, i) == NCCL_SUCCESS, "no message");
    if (rounds > 20) guest_nap_us(5000);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "filter") == 0) kill_at_privileged_calls();
  if (argc > 1 && strcmp(argv[1], "freeze") == 0) {
    rounds = 600;
    freeze_once();
  }
  guest_init();
  struct guest_link link;
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, move_data, &link) == 0, "no thread");
  pthread_join(thread, NULL);

  setvbuf(stdout, NULL, _IONBF, 0);
  pid_t child = fork();
  if (child == 0) _exit(3);
  expect(child, 3, "fork");
  child = fork();
  if (child == 0) exit(4); /* runs the exit handlers */
  expect(child, 4, "fork and exit");
  child = vfork();
  if (child == 0) _exit(5);
  expect(child, 5, "vfork");
  /* The program must inherit no descriptor of the plugin or of Java. */
  char *const arguments[] = {"sh", "-c", "ls /proc/self/fd | wc -l; exit 6", NULL};
  MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0, "no posix_spawn");
  expect(child, 6, "posix_spawn");
  printf("system: %d\n", WEXITSTATUS(system("exit 7")));

  guest_control();

  printf("done\n");
  return 0;
}
