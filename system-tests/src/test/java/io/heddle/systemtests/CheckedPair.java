package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Job of two hosts of a lab, which runs until the test ends it and checks every byte. */
final class CheckedPair implements AutoCloseable {
  private final Lab lab;
  private final Path end;
  private final HostProcess first;
  private final HostProcess second;

  private CheckedPair(Lab lab, Path end, HostProcess first, HostProcess second) {
    this.lab = lab;
    this.end = end;
    this.first = first;
    this.second = second;
  }

  /**
   * Starts the job.
   *
   * @param folder folder for the processes' output and their rendezvous
   * @param settings environment variables of both processes
   */
  static CheckedPair start(Lab lab, Path folder, Map<String, String> settings)
      throws IOException, InterruptedException {
    Path end = folder.resolve("end");
    HostProcess first = rank(lab, 0, folder, end, settings);
    HostProcess second = null;
    try {
      second = rank(lab, 1, folder, end, settings);
    } finally {
      if (second == null) {
        first.close();
      }
    }
    return new CheckedPair(lab, end, first, second);
  }

  private static HostProcess rank(
      Lab lab, int rank, Path folder, Path end, Map<String, String> settings) throws IOException {
    List<String> command =
        List.of(
            BuildOutputs.chaos().toString(),
            "--plugin",
            BuildOutputs.plugin().toString(),
            "--rank",
            Integer.toString(rank),
            "--rendezvous",
            folder.toString(),
            "--until",
            end.toString());
    Map<String, String> environment = new HashMap<>(Map.of("NCCL_DEBUG", "INFO"));
    environment.putAll(settings);
    return HostProcess.start(
        lab, rank, folder.resolve("rank" + rank + ".log"), environment, command);
  }

  /** Waits until every plane has carried more bytes than at the call. */
  void awaitAllCarry() throws InterruptedException {
    List<Long> before = lab.sentBytesByPlane();
    Deadline deadline = Deadline.ofSeconds(120);
    List<Long> now = before;
    while (!allMore(before, now)) {
      assertTrue(
          !deadline.isOver() && first.isAlive() && second.isAlive(),
          lab.sentBytesByPlane() + " after " + before + "\n" + outputs());
      TimeUnit.MILLISECONDS.sleep(100);
      now = lab.sentBytesByPlane();
    }
  }

  private static boolean allMore(List<Long> before, List<Long> now) {
    for (int plane = 0; plane < before.size(); plane++) {
      if (now.get(plane) - before.get(plane) < 1 << 20) {
        return false;
      }
    }
    return true;
  }

  /** Waits until either host's output contains these words. */
  void awaitWord(String words) throws InterruptedException {
    await(words, () -> outputs().contains(words));
  }

  /** Waits until this host's output contains these words. */
  void awaitWord(int rank, String words) throws InterruptedException {
    await(words, () -> outputs(rank).contains(words));
  }

  private void await(String words, BooleanSupplier found) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    while (!found.getAsBoolean()) {
      assertAlive();
      assertTrue(!deadline.isOver(), () -> "no \"" + words + "\" in\n" + outputs());
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  void assertAlive() {
    assertTrue(first.isAlive() && second.isAlive(), this::outputs);
  }

  /** Ends both processes. Asserts that they succeed and print no error. */
  void endCleanly() throws IOException, InterruptedException {
    Files.createFile(end);
    assertEquals(0, first.exitCode(60), this::outputs);
    assertEquals(0, second.exitCode(60), this::outputs);
    assertFalse(outputs().contains("remote error"), this::outputs);
  }

  String outputs() {
    return outputs(0) + "\n" + outputs(1);
  }

  String outputs(int rank) {
    try {
      return (rank == 0 ? first : second).output();
    } catch (IOException unreadable) {
      return unreadable.toString();
    }
  }

  /** Runs a command on a host and returns its output. */
  String on(int rank, String words) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(lab.command(rank, List.of(words.split(" "))))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), words + ": " + said);
    return said;
  }

  @Override
  public void close() throws InterruptedException {
    try (first) {
      second.close();
    }
  }
}
