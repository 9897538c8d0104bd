/*
 * Chooses the file for the report that the JVM writes about a fault of its own. The file is in the folder of the
 * statistics, not in the host's working directory.
 */
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim.h"

/* Parent of the statistics' folder, as in io.heddle.stats.DefaultStatsFolder. */
#define SHARED_MEMORY "/dev/shm"
#define MOST_FOLDERS 16

/* Returns true if the folder is this user's or doesn't exist yet. */
static bool is_ours(const char *folder) {
  struct statx status; /* not lstat(), which would need glibc 2.33 */
  return statx(AT_FDCWD, folder, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_UID, &status) != 0 ||
         (S_ISDIR(status.stx_mode) && status.stx_uid == geteuid());
}

static void usual_folder(char *folder, size_t size) {
  char words[1024];
  struct passwd entry;
  struct passwd *found = NULL;
  char user[256];
  if (getpwuid_r(getuid(), &entry, words, sizeof words, &found) == 0 && found != NULL && entry.pw_name[0] != '\0' &&
      strchr(entry.pw_name, '/') == NULL) {
    snprintf(user, sizeof user, "%s", entry.pw_name);
  } else {
    snprintf(user, sizeof user, "uid%u", (unsigned)geteuid());
  }
  snprintf(folder, size, SHARED_MEMORY "/heddle-%s", user);
  for (int number = 2; number <= MOST_FOLDERS && !is_ours(folder); number++) {
    snprintf(folder, size, SHARED_MEMORY "/heddle-%s-%d", user, number);
  }
}

void heddle_fault_report(char option[HEDDLE_FAULT_REPORT_BYTES]) {
  static const char NAME[] = "-XX:ErrorFile=";
  char folder[PATH_MAX];
  const char *chosen = getenv("HEDDLE_STATS_DIR");
  if (chosen != NULL && *chosen != '\0') {
    snprintf(folder, sizeof folder, "%s", chosen);
  } else {
    usual_folder(folder, sizeof folder);
  }
  snprintf(option, HEDDLE_FAULT_REPORT_BYTES, "%s%s/hs_err_heddle_%d.log", NAME, folder, (int)getpid());
  heddle_signals_report_in(option + sizeof NAME - 1);
}
