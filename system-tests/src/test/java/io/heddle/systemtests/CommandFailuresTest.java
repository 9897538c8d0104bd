package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of commands that must fail, since the user isn't root or standard output can't be written.
 * Each prints one line, returns the right exit code and leaves no files or processes.
 */
@EndsWithin(120)
@SystemTest
final class CommandFailuresTest {
  private static final long LIMIT_SECONDS = 60;
  private static final int NOBODY = 65_534;
  private static final int NO_READER = 141;
  private static final String HERE = "HERE";

  @TempDir private Path folder;
  private Path locked = Path.of("");
  private Path temporary = Path.of("");
  private int started;

  /**
   * Copies the command as packages install it: all parts in one folder, which all users may read.
   */
  @BeforeEach
  void install() throws IOException {
    Path plugin = BuildOutputs.plugin().getParent();
    open(folder, "rwxr-xr-x");
    for (Path part :
        List.of(
            BuildOutputs.START,
            BuildOutputs.tools(),
            BuildOutputs.allReduce(),
            BuildOutputs.chaos(),
            plugin.resolve("libnccl-net-heddle.so"),
            plugin.resolve("heddle-plugin.jar"))) {
      open(Files.copy(part, folder.resolve(part.getFileName())), "rwxr-xr-x");
    }
    locked = open(Files.createDirectory(folder.resolve("locked")), "rwx------");
    temporary = open(Files.createDirectory(folder.resolve("temporary")), "rwxrwxrwx");
    Files.writeString(
        folder.resolve("java"),
        "#!/bin/sh\nexec '%s/bin/java' '-Djava.io.tmpdir=%s' \"$@\"\n"
            .formatted(System.getProperty("java.home"), temporary));
    open(folder.resolve("java"), "rwxr-xr-x");
    Files.createDirectory(folder.resolve("empty"));
    Files.writeString(
        folder.resolve("bgp.conf"),
        "as = 65001\npublish = %s/routes\n[peer leaf]\ninterface = lo\nas = 65002\nplane = 1\n"
            .formatted(locked));
  }

  private static Path open(Path path, String permissions) throws IOException {
    return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  /*
   * Starts the command behind a wrapper command (before). The word HERE in the arguments stands for
   * the test's folder.
   */
  private HostProcess start(List<String> before, String arguments) throws IOException {
    List<String> command = new ArrayList<>(before);
    for (String part : List.of("start.sh", "java", "heddle-tools.jar")) {
      command.add(folder.resolve(part).toString());
    }
    Stream.of(arguments.replace(HERE, folder.toString()).split(" ")).forEach(command::add);
    return HostProcess.start(
        command,
        folder.resolve("output" + started++),
        Map.of("HEDDLE_JAVA_HOME", System.getProperty("java.home"), "HOME", "/nonexistent"));
  }

  private static List<String> asNobody() {
    if (!"root".equals(System.getProperty("user.name"))) {
      Skip.because("only root can run a command as another user");
    }
    return List.of(
        "setpriv", "--reuid", "" + NOBODY, "--regid", "" + NOBODY, "--clear-groups", "--");
  }

  private void assertEndsWithOneLine(
      HostProcess process, String arguments, int code, String sentence)
      throws IOException, InterruptedException {
    assertEquals(
        code, process.exitCode(LIMIT_SECONDS), () -> arguments + ": " + process.outputOrWhyNot());
    String output = process.output();
    assertFalse(output.contains("\tat "), () -> arguments + ": " + output);
    List<String> lines = output.lines().filter(line -> line.startsWith("heddle: ")).toList();
    assertEquals(1, lines.size(), () -> arguments + ": " + output);
    assertTrue(lines.getFirst().contains(sentence), () -> arguments + ": " + output);
  }

  /*
   * Runs all commands, in parallel to save time. Asserts that each prints one line, the sentence
   * for this command.
   */
  private void assertAllEndWithOneLine(List<String> before, Map<String, String> sentences)
      throws IOException, InterruptedException {
    Map<String, HostProcess> processes = new LinkedHashMap<>();
    try {
      for (String arguments : sentences.keySet()) {
        processes.put(arguments, start(before, arguments));
      }
      for (Map.Entry<String, HostProcess> each : processes.entrySet()) {
        String arguments = each.getKey();
        assertEndsWithOneLine(
            each.getValue(), arguments, 1, String.valueOf(sentences.get(arguments)));
      }
    } finally {
      for (HostProcess process : processes.values()) {
        process.close();
      }
    }
    assertNothingIsLeft();
  }

  private void assertNothingIsLeft() throws IOException {
    try (Stream<Path> left = Files.list(temporary)) {
      assertEquals(List.of(), left.toList());
    }
  }

  @Test
  void missingPermissionIsReportedInOneLine() throws Exception {
    Files.writeString(locked.resolve("drained"), "if:a\n");
    Map<String, String> sentences = new LinkedHashMap<>();
    sentences.put("lab up", "needs root");
    sentences.put("lab status", "needs root");
    sentences.put("demo --fabric", "needs root");
    sentences.put("soak --fabric --runs 1 --json", "needs root");
    sentences.put("perf failover", "needs root");
    sentences.put("bgp run --config HERE/bgp.conf", "locked/routes can't be published: permission");
    sentences.put("bgp show neighbours --control HERE/none", "no route daemon answers at");
    sentences.put("stat --stats HERE/locked", "locked: permission denied");
    sentences.put("errors --stats HERE/locked", "locked: permission denied");
    sentences.put("drain --stats HERE/locked", "locked/drained: permission denied");
    sentences.put("write-man-pages HERE/locked", "permission denied");
    assertAllEndWithOneLine(asNobody(), sentences);
  }

  @Test
  void forbiddenDrainChangesNothing() throws Exception {
    Path orders = Files.writeString(folder.resolve("empty").resolve("drained"), "if:a\n");
    assertAllEndWithOneLine(
        asNobody(), Map.of("drain --end if:a --stats HERE/empty", "so nothing was changed"));
    assertEquals("if:a\n", Files.readString(orders));
  }

  @Test
  void theDemoNeedsNoRoot() throws Exception {
    String arguments = "demo --planes 1 --max-bytes 8 --iterations 1 --network loopback";
    try (HostProcess demo = start(asNobody(), arguments)) {
      assertEquals(0, demo.exitCode(LIMIT_SECONDS), demo::outputOrWhyNot);
      assertTrue(demo.output().contains("PASSED"), demo::outputOrWhyNot);
    }
    assertNothingIsLeft();
  }

  @Test
  void unwrittenReportIsAFailure() throws Exception {
    Map<String, String> sentences = new LinkedHashMap<>();
    for (String arguments :
        List.of(
            "--help",
            "perf --version",
            "planes --json",
            "errors --stats HERE/empty",
            "drain --stats HERE/empty",
            "bgp check --config HERE/bgp.conf",
            "stat --watch --stats HERE/empty",
            "exporter --listen [::1]:0 --stats HERE/empty",
            "demo --planes 1 --max-bytes 8 --iterations 1 --network loopback")) {
      sentences.put(arguments, "standard output can't be written: ");
    }
    assertAllEndWithOneLine(List.of("sh", "-c", "exec \"$@\" >/dev/full", "sh"), sentences);
    assertAllEndWithOneLine(
        List.of("sh", "-c", "exec \"$@\" >&-", "sh"),
        Map.of("planes", "standard output can't be written: "));
  }

  @Test
  void closedPipeEndsLiveView() throws Exception {
    List<String> toAReader =
        List.of("bash", "-c", "\"$@\" | head -n 1; exit ${PIPESTATUS[0]}", "bash");
    try (HostProcess view =
        start(toAReader, "stat --watch --interval 0.1 --stats " + folder.resolve("empty"))) {
      assertEquals(NO_READER, view.exitCode(LIMIT_SECONDS), view::outputOrWhyNot);
      assertEquals(1, view.output().lines().count(), view::outputOrWhyNot);
    }
  }
}
