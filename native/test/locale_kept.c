/*
 * The plugin's start keeps its host's locale, also while other threads print. The JVM's locale doesn't depend on the
 * host's. Each host is a separate process, since a JVM can be created once.
 */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SKIPPED 77

static char folder[PATH_MAX]; /* a folder in the build folder */
static const char *current;   /* name of the running case */

static void run(const char *format, const char *first, const char *second) {
  char command[4 * PATH_MAX];
  snprintf(command, sizeof command, format, folder, first, second);
  CHECK(system(command) == 0, "%s", command);
}

/* ---- the host's view of its locale ---- */

struct view {
  char names[512], number[64];
};

static struct view check_locale(void) {
  struct view view = {.names = "nothing"};
  const char *names = setlocale(LC_ALL, NULL);
  if (names != NULL) {
    snprintf(view.names, sizeof view.names, "%s", names);
  }
  snprintf(view.number, sizeof view.number, "%.2f", 291.25);
  return view;
}

static atomic_bool over;
static atomic_long prints;
static char unexpected[64];

/* Prints a number repeatedly while the plugin starts, and keeps the first output that differs. */
static void *print(void *argument) {
  const struct view *expected = argument;
  char number[64];
  while (!atomic_load(&over)) {
    snprintf(number, sizeof number, "%.2f", 291.25);
    if (strcmp(number, expected->number) != 0 && unexpected[0] == '\0') {
      snprintf(unexpected, sizeof unexpected, "%s", number);
    }
    atomic_fetch_add(&prints, 1);
  }
  return NULL;
}

/*
 * category: the locale category that the host sets from its environment before it loads the plugin. With -1 it sets
 * none and keeps the C locale.
 */
static void host(int category) {
  CHECK(category < 0 || setlocale(category, "") != NULL, "%s: no locale %s", current, getenv("LC_ALL"));
  struct view before = check_locale();
  bool comma = category == LC_ALL || category == LC_NUMERIC;
  CHECK(strcmp(before.number, comma ? "291,25" : "291.25") == 0, "%s: %s", current, before.number);
  pthread_t printer;
  CHECK(pthread_create(&printer, NULL, print, &before) == 0, "no thread");
  while (atomic_load(&prints) == 0) {
    sched_yield();
  }
  const struct nccl_net_v12 *net = table_v12(load());
  void *context = init_v12(net, 1);
  use_v12(net);
  struct view during = check_locale();
  CHECK(net->finalize(context) == NCCL_SUCCESS, "%s: finalize failed", current);
  atomic_store(&over, true);
  pthread_join(printer, NULL);
  struct view after = check_locale();
  CHECK(strcmp(during.names, before.names) == 0, "%s: %s instead of %s", current, during.names, before.names);
  CHECK(strcmp(after.names, before.names) == 0, "%s: %s instead of %s", current, after.names, before.names);
  CHECK(strcmp(after.number, before.number) == 0, "%s: prints %s instead of %s", current, after.number, before.number);
  CHECK(unexpected[0] == '\0', "%s: while the plugin started, another thread printed %s", current, unexpected);
  CHECK(warnings == 0, "%s: %d warnings", current, warnings);
}

/* ---- names outside ASCII ---- */

static int files_in(const char *path) {
  DIR *open = opendir(path);
  CHECK(open != NULL, "%s: %s: %s", current, path, strerror(errno));
  int count = 0;
  for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
    count += entry->d_name[0] != '.';
  }
  closedir(open);
  return count;
}

/* The plugin is in a folder with a non-ASCII name, and writes its statistics to such a folder. */
static void host_with_names(int unused) {
  (void)unused;
  char library[PATH_MAX + 64];
  char statistics[PATH_MAX + 64];
  snprintf(library, sizeof library, "%s/häddle/libnccl-net-heddle.so", folder);
  snprintf(statistics, sizeof statistics, "%s/istatistik-ığ-%d", folder, (int)getpid());
  setenv("PLUGIN_UNDER_TEST", library, 1);
  setenv("HEDDLE_STATS_DIR", statistics, 1);
  const struct nccl_net_v12 *net = table_v12(load());
  void *context = init_v12(net, 1);
  use_v12(net);
  CHECK(files_in(statistics) == 1, "%s: %d files in %s", current, files_in(statistics), statistics);
  CHECK(net->finalize(context) == NCCL_SUCCESS, "%s: finalize failed", current);
  CHECK(warnings == 0, "%s: %d warnings", current, warnings);
}

/* ---- the cases ---- */

static void in_process(const char *name, const char *locale, void (*body)(int), int category) {
  current = name;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    setenv("LC_ALL", locale, 1);
    body(category);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %#x", name, (unsigned)status);
  printf("ok: %s\n", name);
}

static int every_case(void) {
  char plugin_folder[PATH_MAX];
  snprintf(plugin_folder, sizeof plugin_folder, "%s", getenv("PLUGIN_UNDER_TEST"));
  *strrchr(plugin_folder, '/') = '\0';
  run("mkdir -p '%1$s/häddle' && cp -p '%2$s'/*.so '%2$s'/heddle-plugin.jar '%1$s/häddle'", plugin_folder, "");
  static const char *const ASCII[] = {"C", "POSIX", "C.UTF-8", "nowhere.UTF-8"};
  for (size_t i = 0; i < sizeof ASCII / sizeof ASCII[0]; i++) {
    char name[128];
    snprintf(name, sizeof name, "names that are not ASCII, under %s", ASCII[i]);
    in_process(name, ASCII[i], host_with_names, 0);
  }
  if (access("/usr/share/i18n/locales/tr_TR", R_OK) != 0) {
    printf("skipped: no /usr/share/i18n/locales/tr_TR to make a locale of; it comes with the package locales\n");
    return SKIPPED;
  }
  static const char *const COMMA[] = {"tr_TR", "de_DE"};
  for (size_t i = 0; i < sizeof COMMA / sizeof COMMA[0]; i++) {
    char name[128];
    char locale[32];
    run("localedef -i %2$s -f UTF-8 '%1$s/%2$s.UTF-8'", COMMA[i], "");
    setenv("LOCPATH", folder, 1);
    snprintf(locale, sizeof locale, "%s.UTF-8", COMMA[i]);
    static const struct {
      const char *words;
      int category;
    } HOSTS[] = {{"sets no locale", -1},
                 {"sets that of characters, as Python does", LC_CTYPE},
                 {"sets that of numbers", LC_NUMERIC},
                 {"sets all", LC_ALL}};
    for (size_t j = 0; j < sizeof HOSTS / sizeof HOSTS[0]; j++) {
      snprintf(name, sizeof name, "under %s, a host that %s", locale, HOSTS[j].words);
      in_process(name, locale, host, HOSTS[j].category);
    }
    snprintf(name, sizeof name, "names that are not ASCII, under %s", locale);
    in_process(name, locale, host_with_names, 0);
  }
  return 0;
}

/* Another process removes the folder, since a failed check ends its own process at once. */
int main(void) {
  CHECK(getcwd(folder, sizeof folder - sizeof "/locale-kept-XXXXXX") != NULL, "no current folder");
  strcat(folder, "/locale-kept-XXXXXX");
  CHECK(mkdtemp(folder) != NULL, "can't make %s", folder);
  pid_t child = fork();
  if (child == 0) {
    exit(every_case());
  }
  int status = -1;
  waitpid(child, &status, 0);
  run("rm -r '%s'", "", "");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
