/* A failed start logs one line with the reason and leaves the host alive; NCCL then uses another transport. */
#include "harness.h"

#include <sys/resource.h>
#include <sys/stat.h>

#define UNUSED_USER 64123
#define SKIPPED 77

static void *load_from(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL, "dlopen: %s", dlerror());
  return library;
}

static int init(const struct nccl_net_v12 *net) {
  struct nccl_config config = {.traffic_class = -1};
  void *context = NULL;
  return net->init(&context, 1, &config, logger, NULL);
}

static void refused(const struct nccl_net_v12 *net, const char *word, const char *other) {
  int result = init(net);
  CHECK(result == NCCL_SYSTEM_ERROR, "init returned %d", result);
  CHECK(warnings == 1, "%d warnings instead of one", warnings);
  CHECK(strstr(logged, word) != NULL && strstr(logged, other) != NULL, "the line doesn't contain %s and %s", word,
        other);
  int count = 7;
  result = net->devices(&count);
  CHECK(result == NCCL_INVALID_USAGE, "devices without init returned %d", result);
}

/* The library is alone in a folder, without its jar. */
static void missing_jar(void) {
  char folder[] = "/tmp/heddle-missing-jar-XXXXXX";
  CHECK(mkdtemp(folder) != NULL, "no temporary folder");
  char library[128];
  char command[8192];
  snprintf(library, sizeof library, "%s/libnccl-net-heddle.so", folder);
  snprintf(command, sizeof command, "cp '%s' '%s'", getenv("PLUGIN_UNDER_TEST"), library);
  CHECK(system(command) == 0, "%s", command);
  const struct nccl_net_v12 *net = table_v12(load_from(library));
  refused(net, "heddle-plugin.jar", folder);
  unlink(library);
  rmdir(folder);
}

static void write_file(const char *path, const char *words, mode_t mode) {
  FILE *file = fopen(path, "we");
  CHECK(file != NULL && fputs(words, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0, "can't write %s", path);
}

/* Makes a home of Java 17 and puts its java first on PATH. */
static void old_java_on_path(void) {
  char folder[] = "/tmp/heddle-old-java-XXXXXX";
  CHECK(mkdtemp(folder) != NULL, "no temporary folder");
  char command[512];
  snprintf(command, sizeof command, "mkdir -p '%s/bin' '%s/lib/server'", folder, folder);
  CHECK(system(command) == 0, "%s", command);
  char path[128];
  snprintf(path, sizeof path, "%s/bin/java", folder);
  write_file(path, "#!/bin/sh\n", 0755);
  snprintf(path, sizeof path, "%s/lib/server/libjvm.so", folder);
  write_file(path, "", 0644);
  snprintf(path, sizeof path, "%s/release", folder);
  write_file(path, "JAVA_VERSION=\"17.0.9\"\n", 0644);
  snprintf(path, sizeof path, "/nowhere:%s/bin", folder);
  unsetenv("HEDDLE_JAVA_HOME");
  unsetenv("JAVA_HOME");
  setenv("PATH", path, 1);
  int result = init(table_v12(load()));
  snprintf(path, sizeof path, "PATH=%s is version 17.0.9", folder);
  CHECK(strstr(logged, path) != NULL, "no line names the old java (init returned %d): %s", result, logged);
  CHECK(warnings == (result == NCCL_SUCCESS ? 0 : 1), "%d warnings, init returned %d", warnings, result);
  setenv("PATH", "/usr/bin:/bin", 1);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0, "%s", command);
}

/* Makes a link to the java of the build's runtime, as update-alternatives does. */
static void java_on_path(void) {
  const char *home = getenv("HEDDLE_JAVA_HOME");
  CHECK(home != NULL, "the build sets HEDDLE_JAVA_HOME");
  char folder[] = "/tmp/heddle-java-on-path-XXXXXX";
  CHECK(mkdtemp(folder) != NULL, "no temporary folder");
  char java[4096];
  char link[128];
  snprintf(java, sizeof java, "%s/bin/java", home);
  snprintf(link, sizeof link, "%s/java", folder);
  CHECK(symlink(java, link) == 0, "no link to %s", java);
  unsetenv("HEDDLE_JAVA_HOME");
  unsetenv("JAVA_HOME");
  setenv("PATH", folder, 1);
  int result = init(table_v12(load()));
  CHECK(result == NCCL_SUCCESS, "init returned %d: %s", result, logged);
  CHECK(strstr(logged, ", by PATH, ") != NULL, "no line names PATH: %s", logged);
  unlink(link);
  rmdir(folder);
}

/* After the limit is raised, the next communicator's init tries again and succeeds. */
static void serves_after_raising(const struct nccl_net_v12 *net, int resource) {
  struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  CHECK(setrlimit(resource, &none) == 0, "the limit can't be restored");
  CHECK(init(net) == NCCL_SUCCESS, "init failed after the limit was raised: %s", logged);
}

static void refused_below(int resource, rlim_t bytes, const char *words) {
  const struct nccl_net_v12 *net = table_v12(load());
  struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  CHECK(setrlimit(resource, &limit) == 0, "no limit");
  refused(net, words, "raise the limit");
  serves_after_raising(net, resource);
}

static void limit_threads(rlim_t most) {
  struct rlimit limit = {.rlim_cur = most, .rlim_max = 8};
  CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0, "no limit");
}

/* The limit counts a user's threads and doesn't apply to root. So this process becomes a user without other threads. */
static void few_threads(void) {
  const struct nccl_net_v12 *net = table_v12(load());
  if (geteuid() == 0) {
    CHECK(setgid(UNUSED_USER) == 0 && setuid(UNUSED_USER) == 0, "can't become another user");
  }
  if (access(getenv("PLUGIN_UNDER_TEST"), R_OK) != 0) {
    printf("skipped: user %d can't read this build\n", UNUSED_USER);
    exit(SKIPPED);
  }
  limit_threads(1);
  refused(net, "only 0 could be created", "ulimit -u is 1, pids.max");
  limit_threads(8);
  CHECK(init(net) == NCCL_SYSTEM_ERROR && warnings == 3, "the second attempt warned %d times", warnings);
  CHECK(strstr(logged, "ulimit -u is 8, pids.max") != NULL, "the limit isn't named: %s", logged);
}

int main(int count, char **arguments) {
  CHECK(count == 2, "usage: bad_start case");
  const char *which = arguments[1];
  if (strcmp(which, "missing-jar") == 0) {
    missing_jar();
  } else if (strcmp(which, "java-on-path") == 0) {
    java_on_path();
  } else if (strcmp(which, "old-java-on-path") == 0) {
    old_java_on_path();
  } else if (strcmp(which, "heddle-java-home") == 0) {
    char good[4096];
    const char *before = getenv("HEDDLE_JAVA_HOME");
    snprintf(good, sizeof good, "%s", before == NULL ? "" : before); /* an empty variable counts as not set */
    setenv("HEDDLE_JAVA_HOME", "/nowhere", 1);
    const struct nccl_net_v12 *net = table_v12(load());
    refused(net, "HEDDLE_JAVA_HOME=/nowhere", "lib/server/libjvm.so");
    /* After the user corrects the variable, the next communicator's init tries again. */
    setenv("HEDDLE_JAVA_HOME", good, 1);
    CHECK(init(net) == NCCL_SUCCESS, "init failed after the variable was corrected");
  } else if (strcmp(which, "java-home") == 0) {
    unsetenv("HEDDLE_JAVA_HOME");
    setenv("JAVA_HOME", "/nowhere", 1);
    int result = init(table_v12(load()));
    /* If another runtime works, an info line names the bad JAVA_HOME. Otherwise the only warning names it. */
    CHECK(strstr(logged, "JAVA_HOME=/nowhere has no") != NULL, "the bad JAVA_HOME isn't named (init returned %d)",
          result);
    CHECK(warnings == (result == NCCL_SUCCESS ? 0 : 1), "%d warnings, init returned %d", warnings, result);
  } else if (strcmp(which, "unknown-option") == 0) {
    setenv("HEDDLE_JVM_OPTIONS", "-XX:+NoSuchFlag", 1);
    refused(table_v12(load()), "NoSuchFlag", "HEDDLE_JVM_OPTIONS");
  } else if (strcmp(which, "impossible-heap") == 0) {
    setenv("HEDDLE_JVM_OPTIONS", "-Xmx200000g -Xms200000g", 1);
    refused(table_v12(load()), "heap", "HEDDLE_JVM_OPTIONS");
  } else if (strcmp(which, "no-address-space") == 0) {
    /* Without the plugin's check, Java would end the process here. */
    struct rlimit limit = {.rlim_cur = 700UL << 20, .rlim_max = RLIM_INFINITY};
    setenv("HEDDLE_JVM_OPTIONS", "-Xmx600m", 1);
    const struct nccl_net_v12 *net = table_v12(load());
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
    refused(net, "did not start", "eserve");
    CHECK(init(net) == NCCL_SYSTEM_ERROR && warnings == 3, "the second attempt warned %d times", warnings);
  } else if (strcmp(which, "little-address-space") == 0) {
    refused_below(RLIMIT_AS, 1UL << 30, "ulimit -v is 1048576 KiB");
  } else if (strcmp(which, "little-memory") == 0) {
    refused_below(RLIMIT_DATA, 400UL << 20, "ulimit -d is 409600 KiB");
  } else if (strcmp(which, "few-threads") == 0) {
    few_threads();
  } else {
    CHECK(false, "there is no case %s", which);
  }
  printf("ok: %s: %s", which, logged);
  return 0;
}
