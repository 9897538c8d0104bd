#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim.h"

/* Not atomic, since only the child writes this variable: right after fork(), while it has a single thread. */
bool heddle_in_forked_child = false;

struct heddle_descriptors *heddle_descriptors = NULL;

static bool is_open(int descriptor, uint64_t device, uint64_t inode) {
  struct statx found;
  return statx(descriptor, "", AT_EMPTY_PATH, STATX_INO, &found) == 0 && found.stx_ino == inode &&
         (found.stx_dev_major | (uint64_t)found.stx_dev_minor << 32) == device;
}

/*
 * Closes a forked child's copies of the plugin's descriptors. A connection ends, and its port becomes free, when its
 * last descriptor is closed. The copies would keep the connections and ports open after the parent ends, and the
 * parent's peers would not notice its end. The child may only close() the sockets: shutdown() would end the parent's
 * connections too.
 */
static void close_copies(void) {
  struct heddle_descriptors *ours = heddle_descriptors;
  if (ours == NULL) {
    return;
  }
  int64_t end = __atomic_load_n(&ours->end, __ATOMIC_ACQUIRE);
  for (int64_t i = 0; i < end; i++) {
    uint64_t inode = __atomic_load_n(&ours->of[i].inode, __ATOMIC_ACQUIRE);
    if (inode != 0 && is_open((int)i, ours->of[i].device, inode)) {
      close((int)i);
    }
  }
  ours->end = 0; /* clears the child's copy of the table, for children of the child */
}

/* Runs in the child after fork(). It restores errno, since the host's fork() has succeeded. */
static void in_child(void) {
  int error = errno;
  heddle_in_forked_child = true;
  close_copies();
  errno = error;
}

/* Maps the table of descriptors. The kernel allocates only its written pages. */
static struct heddle_descriptors *make_table(void) {
  void *table = mmap(NULL, sizeof(struct heddle_descriptors), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return table == MAP_FAILED ? NULL : table;
}

static void install_once(void) {
  heddle_descriptors = make_table();
  pthread_atfork(NULL, NULL, in_child);
}

void heddle_fork_guard_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install_once);
}

/*
 * Uses write(), not the host's logger. If another thread held the logger's or stdio's lock at the fork, the child would
 * wait for ever for that lock.
 */
int heddle_refuse_in_child(void) {
  static const char sentence[] =
      "NET/" HEDDLE_NAME
      ": called in a child of the process that initialised it; neither Java nor RDMA survives fork(). "
      "Start the child with exec or spawn, or initialise NCCL after fork()\n";
  static atomic_bool is_reported;
  if (!atomic_exchange(&is_reported, true)) {
    ssize_t written = write(STDERR_FILENO, sentence, sizeof sentence - 1);
    (void)written; /* if standard error is closed, only the result reports the refusal */
  }
  return NCCL_INVALID_USAGE;
}
