/*
 * Cycles of init, connections, traffic and finalize in one process. Memory, threads and descriptors must not
 * accumulate.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "habits.h"

/* Prefix of the names of the plugin's threads. The program's own second thread is its watchdog. */
#define PLUGIN_THREAD " heddle-"

enum { MESSAGES = 150, SETTLED = 3 };

struct names {
  char text[2048];
};

/* Resources of the process at the end of a cycle. */
struct resources {
  long resident_kib, threads, descriptors;
  struct names thread_names, descriptor_names;
};

static long number_of_status(const char *name) {
  char line[256];
  long number = -1;
  FILE *file = fopen("/proc/self/status", "re");
  while (file != NULL && number < 0 && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) sscanf(line + strlen(name), ": %ld", &number);
  }
  if (file != NULL) fclose(file);
  WANT(number >= 0, "no %s in /proc/self/status", name);
  return number;
}

static void add_name(struct names *names, const char *name) {
  size_t length = strlen(names->text);
  snprintf(names->text + length, sizeof names->text - length, " %s", name);
}

static long count_descriptors(struct names *names) {
  long count = 0;
  struct dirent *entry;
  DIR *folder = opendir("/proc/self/fd");
  WANT(folder != NULL, "no /proc/self/fd");
  while ((entry = readdir(folder)) != NULL) {
    char target[256];
    ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
    if (length < 0 || atoi(entry->d_name) == dirfd(folder)) continue;
    target[length] = '\0';
    add_name(names, target);
    count++;
  }
  closedir(folder);
  return count;
}

/*
 * Returns the number of threads and adds their names. The JVM's compiler threads, which come and go, don't count.
 * Returns -1 if a thread started or ended meanwhile: the listing may then lack other threads, since the kernel resumes
 * it at an offset (proc_pid_task in fs/proc/base.c).
 */
static long count_threads(struct names *names) {
  long count = 0, listed = 0, before = number_of_status("Threads");
  struct dirent *task;
  DIR *folder = opendir("/proc/self/task");
  WANT(folder != NULL, "no /proc/self/task");
  while ((task = readdir(folder)) != NULL) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "re");
    if (file == NULL) continue; /* the thread has ended meanwhile */
    listed++;
    if (fgets(name, sizeof name, file) != NULL && strstr(name, "CompilerThre") == NULL) {
      name[strcspn(name, "\n")] = '\0';
      if (strcmp(name, program_invocation_short_name) == 0) snprintf(name, sizeof name, "own");
      add_name(names, name);
      count++;
    }
    fclose(file);
  }
  closedir(folder);
  return listed == before && listed == number_of_status("Threads") ? count : -1;
}

/* Waits for the plugin's threads, which end soon after finalize. If one doesn't, the watchdog ends the process. */
static struct resources resources_now(void) {
  struct resources held = {0};
  do {
    held.thread_names.text[0] = '\0';
    held.threads = count_threads(&held.thread_names);
    usleep(2000);
  } while (held.threads < 0 || strstr(held.thread_names.text, PLUGIN_THREAD) != NULL);
  held.resident_kib = number_of_status("VmRSS");
  held.descriptors = count_descriptors(&held.descriptor_names);
  progress();
  return held;
}

static void check_growth(int cycle, const struct resources *settled, const struct resources *now) {
  WANT(now->threads <= settled->threads, "cycle %d: %ld threads:%s; after the third %ld:%s", cycle, now->threads,
       now->thread_names.text, settled->threads, settled->thread_names.text);
  WANT(now->descriptors <= settled->descriptors, "cycle %d: %ld descriptors:%s; after the third %ld:%s", cycle,
       now->descriptors, now->descriptor_names.text, settled->descriptors, settled->descriptor_names.text);
  WANT(now->resident_kib <= settled->resident_kib + options.growth_kib, "cycle %d: %ld KiB, after the third %ld", cycle,
       now->resident_kib, settled->resident_kib);
}

void run_cycles(void) {
  struct resources settled = {0};
  for (int cycle = 1; cycle <= options.rounds; cycle++) {
    struct link links[HABITS_MOST_RANKS];
    load_plugin();
    int count = open_links(links);
    exchange(links, count, cycle, MESSAGES);
    barrier();
    for (int i = 0; i < count; i++) close_link(&links[i]);
    net_unload(&net);
    struct resources now = resources_now();
    printf("cycle %d: resident %ld KiB, threads %ld, descriptors %ld\n", cycle, now.resident_kib, now.threads,
           now.descriptors);
    fflush(stdout);
    if (cycle == SETTLED) settled = now;
    if (cycle > SETTLED) check_growth(cycle, &settled, &now);
  }
}
