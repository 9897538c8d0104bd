/* What can't start says why in one line and leaves the host alive; NCCL then takes another transport. */
#include "harness.h"

#include <sys/resource.h>

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
  CHECK(strstr(logged, word) != NULL && strstr(logged, other) != NULL, "the line must speak of %s and %s", word, other);
  int count = 7;
  result = net->devices(&count);
  CHECK(result == NCCL_INVALID_USAGE, "devices without init returned %d", result);
}

/* The library alone in a folder of its own. */
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

int main(int count, char **arguments) {
  CHECK(count == 2, "usage: bad_start case");
  const char *which = arguments[1];
  if (strcmp(which, "missing-jar") == 0) {
    missing_jar();
  } else if (strcmp(which, "heddle-java-home") == 0) {
    char good[4096];
    const char *before = getenv("HEDDLE_JAVA_HOME");
    snprintf(good, sizeof good, "%s", before == NULL ? "" : before); /* empty counts as not set */
    setenv("HEDDLE_JAVA_HOME", "/nowhere", 1);
    const struct nccl_net_v12 *net = table_v12(load());
    refused(net, "HEDDLE_JAVA_HOME=/nowhere", "lib/server/libjvm.so");
    /* The user mends it; the next communicator's init is a new attempt. */
    setenv("HEDDLE_JAVA_HOME", good, 1);
    CHECK(init(net) == NCCL_SUCCESS, "init failed after the variable was mended");
  } else if (strcmp(which, "java-home") == 0) {
    unsetenv("HEDDLE_JAVA_HOME");
    setenv("JAVA_HOME", "/nowhere", 1);
    int result = init(table_v12(load()));
    /* Either another runtime serves and the line names the bad one, or the one warning does. */
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
    /* Java's own answer to this is to end the process. */
    struct rlimit limit = {.rlim_cur = 700UL << 20, .rlim_max = RLIM_INFINITY};
    setenv("HEDDLE_JVM_OPTIONS", "-Xmx600m", 1);
    const struct nccl_net_v12 *net = table_v12(load());
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
    refused(net, "did not start", "eserve");
    CHECK(init(net) == NCCL_SYSTEM_ERROR && warnings == 3, "the second attempt warned %d times", warnings);
  } else {
    CHECK(false, "there is no case %s", which);
  }
  printf("ok: %s: %s", which, logged);
  return 0;
}
