#include <ctype.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

#define OLDEST_VERSION 25

static void reject(struct heddle_jvm_choice *choice, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void reject(struct heddle_jvm_choice *choice, const char *format, ...) {
  size_t used = strlen(choice->rejected);
  size_t left = sizeof choice->rejected - used;
  if (left < 8) {
    return;
  }
  if (used > 0) {
    memcpy(choice->rejected + used, "; ", 3);
    used += 2;
    left -= 2;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(choice->rejected + used, left, format, arguments);
  va_end(arguments);
}

/* Reads the first number of JAVA_VERSION="25.0.3" in the release file. Returns 0 if there is none. */
static int read_version(const char *home, char *version, size_t size) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/release", home);
  snprintf(version, size, "unknown");
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return 0;
  }
  char line[512];
  int number = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "JAVA_VERSION=", 13) == 0) {
      char *value = line + 13;
      value[strcspn(value, "\r\n")] = '\0';
      if (*value == '"') {
        value++;
        value[strcspn(value, "\"")] = '\0';
      }
      snprintf(version, size, "%.30s", value);
      number = isdigit((unsigned char)*value) ? atoi(value) : 0;
      break;
    }
  }
  fclose(file);
  return number;
}

/* Chooses home if its JVM is new enough. Otherwise records the reason. */
static bool accept_home(struct heddle_jvm_choice *choice, const char *home, const char *source) {
  char library[PATH_MAX + 32];
  snprintf(library, sizeof library, "%s/lib/server/libjvm.so", home);
  if (realpath(library, choice->library) == NULL) {
    reject(choice, "%s=%s has no lib/server/libjvm.so", source, home);
    return false;
  }
  int number = read_version(home, choice->version, sizeof choice->version);
  if (number < OLDEST_VERSION) {
    reject(choice, "%s=%s is version %s", source, home, choice->version);
    return false;
  }
  snprintf(choice->home, sizeof choice->home, "%s", home);
  snprintf(choice->source, sizeof choice->source, "%s", source);
  return true;
}

/*
 * Tries the homes that match a pattern, and takes the oldest sufficient version, which is nearest to the tested
 * version.
 */
static bool take_from_folder(struct heddle_jvm_choice *choice, const char *pattern) {
  glob_t found;
  if (glob(pattern, GLOB_TILDE, NULL, &found) != 0) {
    return false;
  }
  const char *best = NULL;
  int best_number = INT_MAX;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char library[PATH_MAX];
    char version[32];
    snprintf(library, sizeof library, "%s/lib/server/libjvm.so", found.gl_pathv[i]);
    int number = read_version(found.gl_pathv[i], version, sizeof version);
    if (number >= OLDEST_VERSION && number < best_number && access(library, R_OK) == 0) {
      best = found.gl_pathv[i];
      best_number = number;
    }
  }
  bool taken = best != NULL && accept_home(choice, best, "system folder");
  globfree(&found);
  if (!taken) {
    reject(choice, "no version %d or later in %s", OLDEST_VERSION, pattern);
  }
  return taken;
}

/*
 * Takes the JVM that a shell would start: the first java in PATH, through links such as those of update-alternatives.
 */
static bool take_from_path(struct heddle_jvm_choice *choice) {
  const char *folder = getenv("PATH");
  while (folder != NULL && *folder != '\0') {
    size_t length = strcspn(folder, ":");
    char program[PATH_MAX];
    char home[PATH_MAX];
    bool fits = snprintf(program, sizeof program, "%.*s/java", (int)length, folder) < (int)sizeof program;
    if (fits && access(program, X_OK) == 0 && realpath(program, home) != NULL) {
      static const char TAIL[] = "/bin/java";
      size_t used = strlen(home);
      if (used > strlen(TAIL) && strcmp(home + used - strlen(TAIL), TAIL) == 0) {
        home[used - strlen(TAIL)] = '\0';
      }
      return accept_home(choice, home, "PATH");
    }
    folder += length + (folder[length] == ':');
  }
  return false;
}

bool heddle_jvm_find(const char *plugin_folder, struct heddle_jvm_choice *choice) {
  memset(choice, 0, sizeof *choice);
  const char *wish = getenv("HEDDLE_JAVA_HOME");
  if (wish != NULL && *wish != '\0') {
    return accept_home(choice, wish, "HEDDLE_JAVA_HOME"); /* an explicit choice has no fallback */
  }
  static const char *const SHIPPED[] = {"jre", "runtime"};
  for (size_t i = 0; i < sizeof SHIPPED / sizeof SHIPPED[0]; i++) {
    char home[PATH_MAX];
    if (snprintf(home, sizeof home, "%s/%s", plugin_folder, SHIPPED[i]) < (int)sizeof home && access(home, F_OK) == 0 &&
        accept_home(choice, home, "its place beside the plugin")) {
      return true;
    }
  }
  const char *java_home = getenv("JAVA_HOME");
  if (java_home != NULL && *java_home != '\0' && accept_home(choice, java_home, "JAVA_HOME")) {
    return true;
  }
  if (take_from_path(choice)) {
    return true;
  }
  static const char *const FOLDERS[] = {"/usr/lib/jvm/*", "/usr/lib64/jvm/*", "/usr/java/*", "/opt/java/*",
                                        "/opt/*j[dr]*"};
  for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
    if (take_from_folder(choice, FOLDERS[i])) {
      return true;
    }
  }
  return false;
}
