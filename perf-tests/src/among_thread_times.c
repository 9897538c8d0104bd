/*
 * CPU time of each thread of this process during one all-reduce, from /proc/self/task (the kernel's
 * proc_pid_schedstat).
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "among.h"

#define TASKS "/proc/self/task"

static int read_text(const char *task, const char *file, char *text, size_t room) {
  char path[64];
  snprintf(path, sizeof path, TASKS "/%s/%s", task, file);
  FILE *from = fopen(path, "r");
  if (from == NULL) return -1; /* the thread has ended */
  size_t got = fread(text, 1, room - 1, from);
  fclose(from);
  text[got] = 0;
  return 0;
}

static uint64_t number_after(const char *text, const char *word) {
  const char *found = strstr(text, word);
  return found == NULL ? 0 : strtoull(found + strlen(word), NULL, 10);
}

static int read_account(const char *task, struct account *account) {
  char text[4096];
  *account = (struct account){.thread = atoi(task)};
  if (read_text(task, "comm", account->name, sizeof account->name) != 0) return -1;
  account->name[strcspn(account->name, "\n")] = 0;
  if (read_text(task, "schedstat", text, sizeof text) != 0) return -1;
  char *end;
  account->ran_ns = strtoull(text, &end, 10);
  account->waited_ns = strtoull(end, NULL, 10);
  if (read_text(task, "status", text, sizeof text) != 0) return -1;
  account->voluntary_switches = number_after(text, "\nvoluntary_ctxt_switches:");
  account->involuntary_switches = number_after(text, "\nnonvoluntary_ctxt_switches:");
  return 0;
}

int accounts_take(struct account accounts[MOST_ACCOUNTS]) {
  int count = 0;
  DIR *tasks = opendir(TASKS);
  if (tasks == NULL) return 0;
  for (struct dirent *task; count < MOST_ACCOUNTS && (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] != '.' && read_account(task->d_name, &accounts[count]) == 0) count++;
  }
  closedir(tasks);
  return count;
}

static const struct account *find(const struct account *accounts, int count, int thread) {
  for (int i = 0; i < count; i++) {
    if (accounts[i].thread == thread) return &accounts[i];
  }
  static const struct account none;
  return &none;
}

void accounts_print(const struct account *before, int before_count, const struct account *after, int after_count) {
  const char *comma = "";
  printf("\"threads\":[");
  for (int i = 0; i < after_count; i++) {
    const struct account *then = find(before, before_count, after[i].thread), *now = &after[i];
    if (now->ran_ns == then->ran_ns && now->waited_ns == then->waited_ns) continue;
    printf("%s{\"name\":\"%s\",\"ran_us\":%.1f,\"waited_us\":%.1f,\"voluntary_switches\":%llu,\"involuntary_switches\":"
           "%llu}",
           comma, now->name, (double)(now->ran_ns - then->ran_ns) / 1e3,
           (double)(now->waited_ns - then->waited_ns) / 1e3,
           (unsigned long long)(now->voluntary_switches - then->voluntary_switches),
           (unsigned long long)(now->involuntary_switches - then->involuntary_switches));
    comma = ",";
  }
  printf("]");
}
