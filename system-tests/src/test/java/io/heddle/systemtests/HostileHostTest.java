package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Checkout;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of a job of two ranks on a host that lacks usual resources: space in shared memory, a
 * readable /proc, a home folder, or descriptors. In one test another user owns Heddle's folder in
 * shared memory. The job runs, or ends with a message; it never crashes.
 */
@EndsWithin(300)
@SystemTest
final class HostileHostTest {
  private static final long LIMIT_SECONDS = 120;
  private static final int SIGNAL_BASE = 128;
  private static final String OTHER = "65534";
  private static final String SMALL = "mount -t tmpfs -o size=64k,mode=1777 heddle-test %1$s; ";
  private static final String FILLED = "head -c 1M /dev/zero >%1$s/filler 2>/dev/null || true";
  private static final String FULL = SMALL + FILLED;

  /* Folder in the checkout, so that it stays usable while a test fills /tmp. */
  private Path folder;

  @BeforeEach
  void makeFolder() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    MountNamespace.orSkip();
    folder = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "hostile");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  @AfterEach
  void removeFolder() throws IOException {
    if (folder != null) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /** Exit codes of two ranks, and the output of both. */
  private record Ended(int first, int second, String output) {}

  private Ended run(String mounts, List<String> before) throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 2, 9000));
        HostProcess first = rank(lab, 0, mounts, before);
        HostProcess second = rank(lab, 1, mounts, before)) {
      int one = first.exitCode(LIMIT_SECONDS);
      int two = second.exitCode(LIMIT_SECONDS);
      return new Ended(one, two, first.output() + second.output());
    }
  }

  private HostProcess rank(Lab lab, int rank, String mounts, List<String> before)
      throws IOException {
    List<String> command = new ArrayList<>(MountNamespace.with(mounts));
    command.addAll(before);
    command.addAll(
        HostProcess.allReduce(
            folder, rank, 2, "--max-bytes", "65536", "--iterations", "2", "--warmup", "1"));
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_JAVA_HOME", System.getProperty("java.home")),
        command);
  }

  private String bothPass(String mounts, String... before) throws Exception {
    Ended ended = run(mounts, List.of(before));
    assertEquals(0, ended.first(), ended.output());
    assertEquals(0, ended.second(), ended.output());
    return ended.output();
  }

  private static int count(String text, String part) {
    return text.split(java.util.regex.Pattern.quote(part), -1).length - 1;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "full | No space left on device",
        "mount -t tmpfs -o ro heddle-test /dev/shm | Read-only file system",
        "mount -t tmpfs heddle-test /dev; mknod -m 666 /dev/null c 1 3 | doesn't exist"
      })
  void jobWithoutRoomInSharedMemoryRunsAndWarnsOnce(String mounts, String reason) throws Exception {
    String said =
        bothPass(mounts.equals("full") ? String.format(Locale.ROOT, FULL, "/dev/shm") : mounts);
    assertEquals(2, count(said, "the job runs without statistics"), said);
    assertEquals(2, count(said, reason), said);
    assertEquals(2, count(said, "HEDDLE_STATS_DIR"), said);
  }

  /* Returns mount commands that keep the checkout visible below a folder that is mounted over. */
  private static String kept(String folder, String mounts) {
    Path checkout = Checkout.ROOT;
    return checkout.startsWith(folder)
        ? "mount --bind '%s' /mnt; %smkdir -p '%s'; mount --move /mnt '%s'; "
            .formatted(checkout, mounts, checkout, checkout)
        : mounts;
  }

  @Test
  void jobRunsWithoutRoomForFiles() throws Exception {
    String said =
        bothPass(
            String.format(Locale.ROOT, FULL, "/dev/shm")
                + "; "
                + String.format(Locale.ROOT, kept("/tmp", SMALL) + FILLED, "/tmp"));
    assertEquals(2, count(said, "the job runs without statistics"), said);
  }

  @Test
  void jobRunsWhereProcHidesOtherUsers() throws Exception {
    bothPass(
        "mount -t tmpfs heddle-test /dev/shm; "
            + "mount -t proc -o hidepid=invisible heddle-test /proc");
  }

  /*
   * Without /proc, Java can't find the first thread's stack and would end the process. So the
   * plugin refuses to attach that thread.
   */
  @Test
  void jobWithoutProcEndsWithMessage() throws Exception {
    Ended ended = run("mount -t tmpfs -o mode=0 heddle-test /proc", List.of());
    assertEquals(2, count(ended.output(), "make /proc/self/maps readable"), ended.output());
    for (int code : List.of(ended.first(), ended.second())) {
      assertTrue(code > 0 && code < SIGNAL_BASE, "killed: " + code + "\n" + ended.output());
    }
  }

  @Test
  void jobRunsWithoutHome() throws Exception {
    bothPass("mount -t tmpfs heddle-test /dev/shm; unset HOME USER LOGNAME");
  }

  /* If the limit is too low even for the start, init fails, and its message names the limit. */
  @ParameterizedTest
  @ValueSource(ints = {12, 24, 64, 96})
  void jobWithFewDescriptorsRunsOrNamesLimit(int limit) throws Exception {
    Ended ended = run("mount -t tmpfs heddle-test /dev/shm; ulimit -n " + limit, List.of());
    if (ended.first() != 0 || ended.second() != 0) {
      assertTrue(limit < 64, ended.output());
      assertEquals(2, count(ended.output(), "ulimit -n is " + limit), ended.output());
    }
    for (int code : List.of(ended.first(), ended.second())) {
      assertTrue(code >= 0 && code < SIGNAL_BASE, "killed: " + code + "\n" + ended.output());
    }
  }

  /* Without the plugin's check, Java itself would end the process in some of these cases. */
  @ParameterizedTest
  @ValueSource(strings = {"-v 1000000", "-v 2800000", "-v 4000000", "-d 300000", "-d 2000000"})
  void jobWithLittleMemoryRunsOrNamesLimit(String limit) throws Exception {
    Ended ended = run("mount -t tmpfs heddle-test /dev/shm; ulimit " + limit, List.of());
    String word = "ulimit " + limit.replace(" ", " is ") + " KiB";
    int refused = Integer.signum(ended.first()) + Integer.signum(ended.second());
    assertEquals(refused, count(ended.output(), word), ended.output());
    assertEquals(0, count(ended.output(), "insufficient memory for the Java"), ended.output());
    for (int code : List.of(ended.first(), ended.second())) {
      assertTrue(code >= 0 && code < SIGNAL_BASE, "killed: " + code + "\n" + ended.output());
    }
    if (limit.equals("-v 4000000") || limit.equals("-d 2000000")) {
      assertEquals(0, ended.first() + ended.second(), ended.output());
    }
  }

  @Test
  void ignoresFilesAndLinksOfOtherUsers() throws Exception {
    Path victim = Files.createDirectory(folder.resolve("victim"));
    Files.setPosixFilePermissions(victim, PosixFilePermissions.fromString("rwxrwxrwx"));
    /*
     * Shared memory is a bind mount of a test's folder, so that the test can read the files
     * afterwards.
     */
    Path shared = Files.createDirectory(folder.resolve("shm"));
    String name = "heddle-" + System.getProperty("user.name");
    Path planted = Files.createDirectory(shared.resolve(name));
    Files.writeString(planted.resolve("drained"), "if:lo\n");
    Files.createSymbolicLink(shared.resolve(name + "-2"), victim);
    for (Path each : List.of(planted, planted.resolve("drained"), shared.resolve(name + "-2"))) {
      run("chown", "--no-dereference", OTHER, each.toString());
    }
    run("chmod", "777", planted.toString());
    run("chmod", "1777", shared.toString());
    String said = bothPass("mount --bind '" + shared + "' /dev/shm");
    assertEquals(2, count(said, name + " is a folder of user " + OTHER + ", mode 777"), said);
    assertEquals(2, count(said, name + "-2 is a link of user " + OTHER), said);
    assertEquals(List.of("drained"), names(planted));
    assertEquals(List.of(), names(victim));
    assertEquals(List.of(), names(shared.resolve(name + "-3")));
  }

  @Test
  void unprivilegedUserWorksBesideRootsFiles() throws Exception {
    Path shared = Files.createDirectory(folder.resolve("shm"));
    Path planted = Files.createDirectory(shared.resolve("heddle-nobody"));
    run("chmod", "777", planted.toString());
    run("chmod", "1777", shared.toString());
    Ended tried =
        run(
            "mount --bind '" + shared + "' /dev/shm",
            List.of("setpriv", "--reuid", OTHER, "--regid", OTHER, "--clear-groups"));
    if (tried.output().contains("Permission denied")) {
      Skip.because("another user can't reach this build: " + tried.output());
    }
    assertEquals(0, tried.first(), tried.output());
    assertEquals(0, tried.second(), tried.output());
    assertEquals(2, count(tried.output(), "is a folder of user 0, mode 777"), tried.output());
    assertEquals(List.of(), names(planted));
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
  }
}
