package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that a demo ends its processes and deletes its namespaces and files, no matter how it is
 * ended. The ranks are scripts that wait.
 */
@EndsWithin(120)
@SystemTest
final class DemoCleanupTest {
  private static final int EXIT_SIGTERM = 128 + 15;

  @TempDir private Path folder;

  private DemoProcess startWithRanksThat(String script, String network, String timeout)
      throws IOException {
    Path driver = folder.resolve("rank.sh");
    Files.writeString(driver, "#!/bin/sh\ntouch '" + folder + "'/up-$4\n" + script);
    Files.setPosixFilePermissions(driver, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path plugin = Files.writeString(folder.resolve("plugin.so"), "");
    return DemoProcess.start(
        folder,
        "--network",
        network,
        "--timeout",
        timeout,
        "--driver",
        driver.toString(),
        "--plugin",
        plugin.toString());
  }

  private void awaitRanks() throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(30);
    while (!Files.exists(folder.resolve("up-0")) || !Files.exists(folder.resolve("up-1"))) {
      assertTrue(!deadline.isOver(), "the ranks weren't started within 30 s");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private void terminateAndExpectNothingLeft(Lab.Kind kind, String network)
      throws IOException, InterruptedException {
    Skip.unless(kind);
    try (DemoProcess demo = startWithRanksThat("exec sleep 100\n", network, "60")) {
      awaitRanks();
      List<ProcessHandle> ranks = demo.descendants();
      assertTrue(ranks.size() >= 2, "ranks run: " + ranks);
      assertEquals(kind == Lab.Kind.NAMESPACES ? 2 : 0, demo.namespaces().size());
      demo.terminate();
      assertEquals(EXIT_SIGTERM, demo.exitCode(), demo.output());
      assertEquals(List.of(), demo.namespaces());
      for (ProcessHandle rank : ranks) {
        assertFalse(rank.isAlive(), "still there: " + rank.info().commandLine());
      }
    }
    assertNoRunFolder();
  }

  private void assertNoRunFolder() throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, "heddle-*")) {
      left.forEach(path -> assertFalse(Files.exists(path), "left behind: " + path));
    }
  }

  @Test
  void terminatedInNamespacesLeavesNothing() throws IOException, InterruptedException {
    terminateAndExpectNothingLeft(Lab.Kind.NAMESPACES, "namespaces");
  }

  @Test
  void terminatedInAUserNamespaceLeavesNothing() throws IOException, InterruptedException {
    terminateAndExpectNothingLeft(Lab.Kind.USER_NAMESPACE, "user");
  }

  @Test
  void terminatedOnLoopbackLeavesNothing() throws IOException, InterruptedException {
    terminateAndExpectNothingLeft(Lab.Kind.LOOPBACK, "loopback");
  }

  @ParameterizedTest
  @EnumSource(Lab.Kind.class)
  @WholeRunOnly(alwaysRunRows = 2)
  void ranksEndWithKilledDemo(Lab.Kind kind) throws Exception {
    Skip.unless(kind);
    String network = kind == Lab.Kind.USER_NAMESPACE ? "user" : kind.name();
    try (DemoProcess demo = startWithRanksThat("exec sleep 100\n", network, "60")) {
      awaitRanks();
      List<ProcessHandle> ranks = demo.descendants();
      assertTrue(ranks.size() >= 2, "ranks run: " + ranks);
      demo.kill();
      for (ProcessHandle rank : ranks) {
        Deadline.ofSeconds(20).get(rank.onExit());
      }
      /* The killed demo could not remove its namespaces. */
      for (String namespace : demo.namespaces()) {
        assertEquals(0, new ProcessBuilder("ip", "netns", "del", namespace).start().waitFor());
      }
    }
  }

  @Test
  void namesKilledRankAndEndsTheOther() throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    try (DemoProcess demo =
        startWithRanksThat("echo up >&2\nexec sleep 100\n", "namespaces", "60")) {
      awaitRanks();
      List<ProcessHandle> ranks = demo.descendants();
      ranks.getFirst().destroyForcibly();
      assertEquals(1, demo.exitCode());
      assertTrue(demo.output().contains("died: killed by signal 9"), demo.output());
      assertTrue(demo.output().contains("was still running"), demo.output());
      assertEquals(List.of(), demo.namespaces());
      for (ProcessHandle rank : ranks) {
        assertFalse(rank.isAlive(), "still there: " + rank.info().commandLine());
      }
    }
  }

  @Test
  void reportsRanksThatCannotStart() throws IOException, InterruptedException {
    try (DemoProcess demo =
        startWithRanksThat("echo cannot load it >&2\nexit 1\n", "loopback", "60")) {
      assertEquals(1, demo.exitCode());
      assertTrue(
          demo.output()
              .matches(
                  "# heddle demo: .*\n"
                      + "# hosts are .*\n"
                      + "FAILED: every rank died: exit code 1: cannot load it \\(all logs are in"
                      + " .*\\)\n"
                      + "(Picked up .*\n"
                      + ")?"
                      + "heddle: logs of the run are kept in .*\n"),
          demo.output());
    }
  }

  @Test
  void hangingRanksEndDemoAfterTimeout() throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    try (DemoProcess demo =
        startWithRanksThat("echo stuck >&2\nexec sleep 100\n", "namespaces", "1")) {
      assertEquals(1, demo.exitCode());
      assertTrue(
          demo.output().contains("FAILED: no rank reported anything for 1 s"), demo.output());
      assertTrue(demo.output().contains("stuck"), demo.output());
      Matcher kept =
          Pattern.compile("heddle: logs of the run are kept in (\\S+)\n").matcher(demo.output());
      assertTrue(kept.find(), demo.output());
      assertTrue(Files.isDirectory(Path.of(kept.group(1))));
      assertEquals(List.of(), demo.namespaces());
    }
  }
}
