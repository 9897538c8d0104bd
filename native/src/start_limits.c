/*
 * If threads, memory or descriptors run out in the middle of a start, the process ends, or Java reports an error that
 * names neither the limit nor a remedy. So the shim allocates them for a moment before the start.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim.h"

/* Java takes about ten descriptors, and the devices and the first connections take as many. */
#define FEWEST_DESCRIPTORS 32
/* Twelve threads run as long as the process. The other four start Java, warm up, and read the class archive. */
#define FEWEST_THREADS 16
/*
 * Least memory for a start. Java ends the process if it has no memory for itself, so these values leave a margin. Java
 * reserves 1 GiB of addresses for classes alone, and a process with one connection has 2.6 GiB of addresses. It has 370
 * MiB of writable memory while the heap of 256 MiB is hardly used.
 */
#define LEAST_ADDRESSES (3072UL << 20)
#define LEAST_WRITABLE (768UL << 20)

struct limit_words {
  char text[32];
};

/* Returns a limit in the form that the shell's ulimit prints. */
static struct limit_words limit_of(int resource, rlim_t unit, const char *suffix) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(resource, &limit);
  struct limit_words words = {"unlimited"};
  if (limit.rlim_cur != RLIM_INFINITY) {
    snprintf(words.text, sizeof words.text, "%ju%s", (uintmax_t)(limit.rlim_cur / unit), suffix);
  }
  return words;
}

bool heddle_start_has_descriptors(void) {
  int taken[FEWEST_DESCRIPTORS];
  int count = 0;
  while (count < FEWEST_DESCRIPTORS && (taken[count] = eventfd(0, EFD_CLOEXEC)) >= 0) {
    count++;
  }
  int error = count < FEWEST_DESCRIPTORS ? errno : 0;
  for (int i = 0; i < count; i++) {
    close(taken[i]);
  }
  if (error != EMFILE && error != ENFILE) {
    return true; /* enough are free, or eventfd is refused for another reason, which later checks report */
  }
  heddle_log(
      NCCL_LOG_WARN,
      "the start takes at least %d file descriptors, and only %d are free (%s; ulimit -n is %s): raise the limit",
      FEWEST_DESCRIPTORS, count, strerror(error), limit_of(RLIMIT_NOFILE, 1, "").text);
  return false;
}

/* ---- threads ---- */

static bool read_number(const char *path, unsigned long *number) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return false;
  }
  bool read = fscanf(file, "%lu", number) == 1; /* the file may contain "max", which is no limit */
  fclose(file);
  return read;
}

/*
 * Returns the smallest pids.max from a control group up to the root, or 0 if none is set. mount: mount point of the
 * hierarchy.
 */
static unsigned long smallest_pids_max(const char *mount, char *group) {
  unsigned long smallest = 0;
  for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
    *end = '\0';
    char path[2 * PATH_MAX];
    unsigned long number;
    snprintf(path, sizeof path, "%s%s/pids.max", mount, group);
    if (read_number(path, &number) && (smallest == 0 || number < smallest)) {
      smallest = number;
    }
  }
  return smallest;
}

/*
 * Returns the limit of this process's control groups, or 0 if none is set. A line of /proc/self/cgroup is
 * number:controllers:path. In the line of version 2, the number is 0 and there are no controllers (cgroups(7)).
 */
static unsigned long pids_max(void) {
  FILE *groups = fopen("/proc/self/cgroup", "re");
  if (groups == NULL) {
    return 0;
  }
  unsigned long smallest = 0;
  char line[PATH_MAX];
  while (fgets(line, sizeof line, groups) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    bool second = strncmp(line, "0::", 3) == 0;
    char *group = second ? line + 3 : strstr(line, ":pids:");
    if (group == NULL) {
      continue;
    }
    unsigned long number =
        smallest_pids_max(second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids", second ? group : group + strlen(":pids:"));
    if (number != 0 && (smallest == 0 || number < smallest)) {
      smallest = number;
    }
  }
  fclose(groups);
  return smallest;
}

static void *wait_for_others(void *all_there) {
  pthread_mutex_lock(all_there);
  pthread_mutex_unlock(all_there);
  return NULL;
}

static bool has_threads(void) {
  pthread_mutex_t all_there = PTHREAD_MUTEX_INITIALIZER;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 * 1024);
  pthread_t taken[FEWEST_THREADS];
  int count = 0;
  int error = 0;
  pthread_mutex_lock(&all_there);
  while (count < FEWEST_THREADS &&
         (error = pthread_create(&taken[count], &attributes, wait_for_others, &all_there)) == 0) {
    count++;
  }
  pthread_mutex_unlock(&all_there);
  for (int i = 0; i < count; i++) {
    pthread_join(taken[i], NULL);
  }
  pthread_attr_destroy(&attributes);
  pthread_mutex_destroy(&all_there);
  if (error != 0) {
    heddle_log_missing_threads(count, error);
  }
  return error == 0;
}

struct heddle_thread_limits heddle_thread_limits(void) {
  char group[32] = "not set";
  unsigned long most = pids_max();
  if (most != 0) {
    snprintf(group, sizeof group, "%lu", most);
  }
  struct heddle_thread_limits limits;
  snprintf(limits.text, sizeof limits.text,
           "ulimit -u is %s, pids.max of the control group is %s; containers: --pids-limit",
           limit_of(RLIMIT_NPROC, 1, "").text, group);
  return limits;
}

struct heddle_thread_limits heddle_thread_limits_suffix(const char *words) {
  bool of_threads = strstr(words, "native thread") != NULL || strstr(words, "VM thread") != NULL;
  struct heddle_thread_limits limits = {""};
  if (of_threads) {
    snprintf(limits.text, sizeof limits.text,
             "; %.180s; other processes take threads at the same time: raise the limit", heddle_thread_limits().text);
  }
  return limits;
}

void heddle_log_missing_threads(int had, int error) {
  heddle_log(NCCL_LOG_WARN,
             "the start takes at least %d threads, and only %d could be created (%s; %s): raise the limit",
             FEWEST_THREADS, had, strerror(error), heddle_thread_limits().text);
}

/* ---- memory ---- */

static bool maps(size_t bytes, int protection) {
  void *memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  munmap(memory, bytes);
  return true;
}

static bool has_memory(void) {
  bool addresses = maps(LEAST_ADDRESSES, PROT_NONE);
  if (addresses && maps(LEAST_WRITABLE, PROT_READ | PROT_WRITE)) {
    return true;
  }
  heddle_log(NCCL_LOG_WARN,
             "the start takes at least %lu MiB of %s, which can't be allocated (%s; ulimit -v is %s, ulimit -d is "
             "%s): raise the limit",
             (addresses ? LEAST_WRITABLE : LEAST_ADDRESSES) >> 20, addresses ? "memory" : "address space",
             strerror(errno), limit_of(RLIMIT_AS, 1024, " KiB").text, limit_of(RLIMIT_DATA, 1024, " KiB").text);
  return false;
}

bool heddle_start_has_threads_and_memory(void) {
  /* Skips the check of memory for a user who sets the JVM's options, which decide how much memory Java takes. */
  const char *options = getenv("HEDDLE_JVM_OPTIONS");
  return has_threads() && ((options != NULL && *options != '\0') || has_memory());
}
