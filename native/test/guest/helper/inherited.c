/*
 * Helper process of musl_helper.py. It prints its environment's loader settings, descriptors and signals, as inherited
 * from the host, then starts a thread and receives a signal.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t received;

static void count_signal(int number) {
  (void)number;
  received++;
}

static void *raise_signal(void *unused) {
  raise(SIGSEGV);
  raise(SIGUSR2);
  return unused;
}

static void print_descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  int count = 0;
  while (folder != NULL && readdir(folder) != NULL) count++;
  if (folder != NULL) closedir(folder);
  /* The entries "." and ".." and the descriptor of the folder itself don't count. */
  printf("descriptors: %d\n", count - 3);
}

static void print_signals(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) != 0) fputs(line, stdout);
  }
  if (status != NULL) fclose(status);
}

int main(void) {
  for (char **each = environ; *each != NULL; each++) {
    if (strncmp(*each, "LD_", 3) == 0 || strncmp(*each, "JAVA", 4) == 0 || strncmp(*each, "_JAVA", 5) == 0) puts(*each);
  }
  print_descriptors();
  print_signals();
  struct sigaction action = {.sa_handler = count_signal};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  pthread_t thread;
  if (pthread_create(&thread, NULL, raise_signal, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  printf("received: %d\n", (int)received);
  return 42;
}
