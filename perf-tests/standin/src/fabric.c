#include "fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "settings.h"

#define MAGIC 0x534e4436u /* changes with every change of the layout */

struct fabric *fabric;
uint32_t self;
uint32_t this_host;

static char path_in_use[4096];
static int fabric_file = -1;

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *fabric_path(void) {
  const char *path = getenv("STANDIN_FABRIC");
  if (path != NULL && *path != '\0') {
    snprintf(path_in_use, sizeof path_in_use, "%s", path);
  } else {
    snprintf(path_in_use, sizeof path_in_use, "/dev/shm/verbs-standin-%u", (unsigned)getuid());
  }
  return path_in_use;
}

/*
 * Returns a process's start time, or 0 if there is no such process. The time is field 22 of /proc/PID/stat, after a
 * program name that may contain blanks.
 */
static uint64_t start_of(uint32_t pid) {
  char name[64], text[1024];
  snprintf(name, sizeof name, "/proc/%u/stat", pid);
  FILE *file = fopen(name, "re");
  if (file == NULL) return 0;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  char *at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  return at == NULL ? 0 : strtoull(at, NULL, 10);
}

bool is_process_alive(uint32_t owner) {
  if (owner == 0 || owner > PROCESSES) return false;
  if (owner == self) return true;
  struct process *process = &fabric->processes[owner - 1];
  uint32_t pid = atomic_load(&process->pid);
  return pid != 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH) && start_of(pid) == process->started;
}

struct shared_pair *pair_of_number(uint32_t number) {
  struct shared_pair *pair = &fabric->pairs[number & (PAIRS - 1)];
  return pair->number == number && atomic_load(&pair->owner) != 0 ? pair : NULL;
}

struct shared_pair *peer_of(const struct shared_pair *pair) {
  return pair_of_number(pair->peer);
}

void lock(shared_lock *lock) {
  for (uint32_t tries = 0;; tries++) {
    uint32_t holder = 0;
    if (atomic_compare_exchange_weak_explicit(lock, &holder, self, memory_order_acquire, memory_order_relaxed)) return;
    if (holder == 0) continue;
    if (tries > 100) sched_yield();
    if (tries % 4096 == 4095 && !is_process_alive(holder)) {
      /*
       * Takes the lock over from a dead holder, whose last change may be incomplete. That is harmless: fabric_reap()
       * frees that process's objects, and all other objects are consistent after every single store.
       */
      if (atomic_compare_exchange_strong(lock, &holder, self)) return;
    }
  }
}

void unlock(shared_lock *lock) { atomic_store_explicit(lock, 0, memory_order_release); }

static long futex_wake(_Atomic uint32_t *word) { return syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

void send_message(uint32_t owner, struct message message) {
  if (owner == 0) return;
  struct process *process = &fabric->processes[owner - 1];
  lock(&process->lock);
  uint32_t tail = atomic_load(&process->message_tail);
  if (tail - atomic_load(&process->message_head) < MESSAGES) {
    process->messages[tail % MESSAGES] = message;
    atomic_store(&process->message_tail, tail + 1);
  } else {
    atomic_fetch_add(&process->lost_messages, 1);
  }
  unlock(&process->lock);
  atomic_fetch_add(&process->bell, 1);
  futex_wake(&process->bell);
}

void announce(uint32_t host, uint32_t device, enum ibv_event_type event) {
  for (uint32_t i = 0; i < PROCESSES; i++) {
    if (atomic_load(&fabric->processes[i].pid) != 0 && fabric->processes[i].host == host) {
      send_message(i + 1, (struct message){.kind = MESSAGE_PORT_EVENT, .event = event, .index = device});
    }
  }
}

static void release_lock(shared_lock *lock, uint32_t owner) { atomic_compare_exchange_strong(lock, &owner, 0); }

static void free_objects_of(uint32_t owner) {
  for (uint32_t i = 0; i < PROCESSES; i++) release_lock(&fabric->processes[i].lock, owner);
  for (uint32_t i = 0; i < PAIRS; i++) release_lock(&fabric->pairs[i].lock, owner);
  for (uint32_t i = 0; i < QUEUES; i++) release_lock(&fabric->queues[i].lock, owner);
  release_lock(&fabric->membership_lock, owner);
  subnet_forget(owner);
  for (uint32_t i = 0; i < HOSTS * DEVICES; i++) release_lock(&port_of(i / DEVICES, i % DEVICES)->lock, owner);
  for (uint32_t i = 0; i < PAIRS; i++) {
    if (atomic_load(&fabric->pairs[i].owner) == owner) {
      atomic_store(&fabric->pairs[i].state, IBV_QPS_RESET);
      atomic_store(&fabric->pairs[i].copying, 0);
      atomic_store(&fabric->pairs[i].owner, 0);
    }
  }
  for (uint32_t i = 0; i < QUEUES; i++) {
    if (atomic_load(&fabric->queues[i].owner) == owner) atomic_store(&fabric->queues[i].owner, 0);
  }
  for (uint32_t i = 0; i < REGIONS; i++) {
    if (atomic_load(&fabric->regions[i].owner) == owner) {
      atomic_store(&fabric->regions[i].key, 0);
      atomic_store(&fabric->regions[i].owner, 0);
    }
  }
}

void fabric_reap(void) {
  for (uint32_t i = 0; i < PROCESSES; i++) {
    struct process *process = &fabric->processes[i];
    if (atomic_load(&process->pid) != 0 && !is_process_alive(i + 1)) {
      free_objects_of(i + 1);
      atomic_store(&process->lock, 0);
      atomic_store(&process->message_head, 0);
      atomic_store(&process->message_tail, 0);
      atomic_store(&process->pid, 0);
    }
  }
}

static int warn(const char *what) {
  int error = errno;
  fprintf(stderr, "verbs-standin: %s %s: %s\n", what, path_in_use, strerror(error));
  return error;
}

/*
 * Opens the file and locks it. If the file was removed during the wait for the lock, tries again with the new file of
 * that name.
 */
static int open_locked(const char *path, bool create) {
  for (;;) {
    int file = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
    if (file < 0) return -1;
    struct stat status;
    if (flock(file, LOCK_EX) != 0 || fstat(file, &status) != 0) {
      close(file);
      return -1;
    }
    if (status.st_nlink > 0) return file;
    close(file);
  }
}

/* Maps the file. The caller holds the file's lock. */
static int map_file(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return warn("cannot stat");
  if (status.st_size != 0 && status.st_size != (off_t)sizeof(struct fabric)) {
    fprintf(stderr, "verbs-standin: %s is no fabric of this version; remove it or set STANDIN_FABRIC\n", path_in_use);
    return EINVAL;
  }
  if (ftruncate(file, sizeof(struct fabric)) != 0) return warn("cannot size");
  void *at = mmap(NULL, sizeof(struct fabric), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (at == MAP_FAILED) return warn("cannot map");
  madvise(at, sizeof(struct fabric), MADV_DONTDUMP);
  fabric = at;
  uint32_t none = 0;
  if (!atomic_compare_exchange_strong(&fabric->magic, &none, MAGIC) && none != MAGIC) {
    fprintf(stderr, "verbs-standin: %s is no fabric of this version; remove it or set STANDIN_FABRIC\n", path_in_use);
    munmap(at, sizeof(struct fabric));
    fabric = NULL;
    return EINVAL;
  }
  return 0;
}

int fabric_open(const char *path, bool keep) {
  snprintf(path_in_use, sizeof path_in_use, "%s", path);
  fabric_file = open_locked(path, keep);
  if (fabric_file < 0) return warn("cannot open");
  int error = map_file(fabric_file);
  if (error == 0) {
    self = PROCESSES + (uint32_t)getpid() % 0x10000 + 1; /* this process's number in locks; no slot has it */
    if (keep) fabric->kept = true;
    fabric_reap();
  }
  flock(fabric_file, LOCK_UN);
  return error;
}

int fabric_remove(const char *path) {
  snprintf(path_in_use, sizeof path_in_use, "%s", path);
  return unlink(path) == 0 ? 0 : warn("cannot remove");
}

static int take_slot(void) {
  for (uint32_t i = 0; i < PROCESSES; i++) {
    struct process *process = &fabric->processes[i];
    if (atomic_load(&process->pid) == 0) {
      process->host = this_host;
      process->started = start_of((uint32_t)getpid());
      atomic_store(&process->pid, (uint32_t)getpid());
      self = i + 1;
      return 0;
    }
  }
  fprintf(stderr, "verbs-standin: %s holds %d processes already\n", path_in_use, PROCESSES);
  return ENOMEM;
}

/*
 * Frees this process's objects and slot at its exit. The last process removes the file, unless the control program
 * created it.
 */
static void leave(void) {
  /* in a forked child, the slot belongs to the parent */
  if (self == 0 || atomic_load(&fabric->processes[self - 1].pid) != (uint32_t)getpid()) return;
  flock(fabric_file, LOCK_EX);
  free_objects_of(self);
  atomic_store(&fabric->processes[self - 1].pid, 0);
  bool alone = !fabric->kept;
  for (uint32_t i = 0; i < PROCESSES && alone; i++) {
    alone = atomic_load(&fabric->processes[i].pid) == 0 || !is_process_alive(i + 1);
  }
  if (alone) unlink(path_in_use);
  flock(fabric_file, LOCK_UN);
}

/*
 * Configures this host's devices. The first process on a host defines them; the settings of later processes must agree.
 */
static int configure(void) {
  struct shared_host *host = &fabric->hosts[this_host];
  bool in_use = fabric->kept;
  for (uint32_t i = 0; i < PROCESSES && !in_use; i++) {
    in_use = atomic_load(&fabric->processes[i].pid) != 0 && fabric->processes[i].host == this_host;
  }
  if (host->devices == 0 || !in_use) return settings_devices(this_host, host);
  uint32_t wanted = 0;
  int error = settings_device_count(&wanted);
  if (error == 0 && wanted != 0 && wanted * host->ports_each != host->devices) {
    fprintf(stderr,
            "verbs-standin: host %u of %s has %u devices, STANDIN_DEVICES=%u doesn't fit; set STANDIN_FABRIC or "
            "STANDIN_HOST to use another\n",
            this_host, path_in_use, host->devices / host->ports_each, wanted);
    error = EINVAL;
  }
  return error;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int join_error;

static void join(void) {
  join_error = settings_host(&this_host);
  if (join_error != 0) return;
  fabric_file = open_locked(fabric_path(), true);
  if (fabric_file < 0) {
    join_error = warn("cannot open");
    return;
  }
  join_error = map_file(fabric_file);
  if (join_error == 0) {
    fabric_reap();
    join_error = configure();
    if (join_error == 0) join_error = take_slot();
    if (join_error == 0) {
      /* If Yama restricts ptrace, other processes need this consent to access this process's memory. */
      prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
      atexit(leave);
    }
  }
  flock(fabric_file, LOCK_UN);
}

int fabric_join(void) {
  pthread_once(&once, join);
  return join_error;
}
