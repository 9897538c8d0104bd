/* A class archive that is damaged, or of another build, costs start time only. */
#include "harness.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>

/* A folder in the build folder, so that a clean build removes leftovers of a killed test. */
static char folder[PATH_MAX];

static void run(const char *format, const char *first) {
  char command[4 * PATH_MAX];
  snprintf(command, sizeof command, format, first, folder);
  CHECK(system(command) == 0, "%s", command);
}

static void write_archive(const char *bytes, size_t length, off_t at) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/heddle.jsa", folder);
  int file = open(path, O_WRONLY | O_CREAT, 0644);
  CHECK(file >= 0 && pwrite(file, bytes, length, at) == (ssize_t)length, "can't write %s", path);
  close(file);
}

/*
 * Starts the plugin in a separate process, since a process can create a JVM only once. The plugin must write nothing to
 * standard output, which belongs to the host.
 */
static void starts_in_child(const char *what) {
  int out[2];
  CHECK(pipe(out) == 0, "no pipe");
  pid_t child = fork();
  if (child == 0) {
    char library[PATH_MAX + 32];
    snprintf(library, sizeof library, "%s/libnccl-net-heddle.so", folder);
    setenv("PLUGIN_UNDER_TEST", library, 1);
    dup2(out[1], STDOUT_FILENO);
    dup2(out[1], STDERR_FILENO);
    const struct nccl_net_v12 *net = table_v12(load());
    use_v12((init_v12(net, 1), net));
    _exit(warnings == 0 ? 0 : 1);
  }
  close(out[1]);
  char words[4096] = "";
  size_t length = 0;
  ssize_t got;
  while ((got = read(out[0], words + length, sizeof words - 1 - length)) > 0) {
    length += (size_t)got;
  }
  close(out[0]);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %#x: %s", what, (unsigned)status, words);
  CHECK(length == 0, "%s: the host's output got: %s", what, words);
}

static void try_archives(void) {
  char plugin_folder[PATH_MAX];
  snprintf(plugin_folder, sizeof plugin_folder, "%s", getenv("PLUGIN_UNDER_TEST"));
  *strrchr(plugin_folder, '/') = '\0';
  run("cp '%s'/*.so '%s'", plugin_folder);
  /* a copy without the time stamp counts as another build's jar */
  run("cp '%s'/heddle-plugin.jar '%s'", plugin_folder);
  starts_in_child("no archive");
  write_archive("this is no archive", 18, 0);
  starts_in_child("garbage");
  char original[PATH_MAX + 16];
  snprintf(original, sizeof original, "%s/heddle.jsa", plugin_folder);
  bool recorded = access(original, R_OK) == 0;
  if (recorded) {
    run("cp '%s'/heddle.jsa '%s'", plugin_folder);
    starts_in_child("archive of another jar");
    run("cp -p '%s'/heddle-plugin.jar '%s'", plugin_folder);
    starts_in_child("archive of this jar in another folder");
    write_archive("\0\0\0\0\0\0\0\0", 8, 16);
    starts_in_child("damaged header");
    run("truncate -s 100000 '%2$s/heddle.jsa' # %1$s", plugin_folder);
    starts_in_child("cut archive");
  }
  printf("ok: started without and with bad archives%s\n", recorded ? "" : " (none was recorded beside the plugin)");
}

/* Another process removes the folder, since a failed check ends its own process at once. */
int main(void) {
  CHECK(getcwd(folder, sizeof folder - sizeof "/stale-archive-XXXXXX") != NULL, "no current folder");
  strcat(folder, "/stale-archive-XXXXXX");
  CHECK(mkdtemp(folder) != NULL, "can't make %s", folder);
  pid_t child = fork();
  if (child == 0) {
    try_archives();
    exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  run("rm -r '%2$s' # %1$s", "");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
