package io.heddle.flowspec.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;

/** A network namespace with addresses on its loopback; it goes with what was started in it. */
final class LoopbackNamespace implements AutoCloseable {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final String name =
      "hdfs" + ProcessHandle.current().pid() + "x" + COUNT.getAndIncrement();
  private final List<Process> processes = new ArrayList<>();
  /* For tests that are interrupted. */
  private final Thread atExit = new Thread(this::tearDown, "namespace-teardown");

  /** Skips the test where no namespace can be made. */
  LoopbackNamespace(List<String> addresses) throws InterruptedException {
    String refusal = run("ip", "netns", "add", name);
    if (!refusal.isEmpty()) {
      System.out.println("skipped: no network namespace can be made here: " + refusal);
      Assumptions.abort("no network namespace can be made here: " + refusal);
    }
    Runtime.getRuntime().addShutdownHook(atExit);
    assertEquals("", run("ip", "-n", name, "link", "set", "lo", "up"));
    for (String each : addresses) {
      assertEquals("", run("ip", "-n", name, "addr", "add", each + "/128", "dev", "lo", "nodad"));
    }
  }

  String name() {
    return name;
  }

  void start(Path log, String... command) throws IOException {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", name));
    whole.addAll(List.of(command));
    processes.add(
        new ProcessBuilder(whole).redirectErrorStream(true).redirectOutput(log.toFile()).start());
  }

  private static String run(String... command) throws InterruptedException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Patience.ofSeconds(30).outlasts(process);
      return process.exitValue() == 0 ? "" : "exit code " + process.exitValue() + ": " + output;
    } catch (IOException absent) {
      return String.valueOf(absent.getMessage());
    }
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    tearDown();
  }

  private void tearDown() {
    try {
      for (Process process : processes) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.waitFor(5, TimeUnit.SECONDS);
      }
      run("ip", "netns", "del", name);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
