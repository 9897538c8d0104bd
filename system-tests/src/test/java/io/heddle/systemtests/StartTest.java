package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test that the plugin's {@code init}, for which NCCL waits, loads no class that takes
 * milliseconds. {@code ./heddle perf start} measures the time.
 */
@EndsWithin(120)
@SystemTest
class StartTest {
  /*
   * First class that is loaded after init. Later classes don't delay NCCL, since they are loaded in
   * parallel to NCCL's next steps.
   */
  private static final String END = "io.heddle.transport.TransportWarmUp";

  /*
   * Classes that init must not load, each with the probable reason for loading it. Each took 2 to
   * 14 ms, of 175 ms in all (docs/notebook/start.md).
   */
  private static final Map<String, String> COSTLY =
      Map.of(
          "java.security.Security", "providers and properties of security, as for SecureRandom",
          "sun.util.locale.provider.LocaleProviderAdapter", "a number in a language's digits",
          "java.lang.runtime.ObjectMethods", "a record's own equals, hashCode or toString",
          "java.util.Comparator$$Lambda", "a comparator of Comparator's, such as comparingInt",
          "java.lang.ProcessHandleImpl", "ProcessHandle",
          "java.util.concurrent.ForkJoinPool", "the common pool of threads");

  @TempDir private Path folder;

  @Test
  void initLoadsNothingThatTakesMilliseconds() throws IOException, InterruptedException {
    Path classes = folder.resolve("classes");
    Path output = folder.resolve("said");
    List<String> command =
        List.of(
            BuildOutputs.pluginPerf().toString(),
            "--plugin",
            BuildOutputs.plugin().toString(),
            "--rendezvous",
            folder.toString(),
            "--rank",
            "0",
            "--max-bytes",
            "8",
            "--timeout-seconds",
            "60");
    Map<String, String> environment =
        Map.of(
            "HEDDLE_PROVIDER", "soft",
            "HEDDLE_PLANES", "127.0.83.1=one",
            "NCCL_SOCKET_IFNAME", "lo",
            "HEDDLE_STATS_DIR", folder.toString(),
            "HEDDLE_JVM_OPTIONS", "-Xlog:class+load=info:file=" + classes + ":none");
    try (HostProcess process = HostProcess.start(command, output, environment)) {
      while (process.isAlive() && !Files.readString(output).contains("\"event\":\"start\"")) {
        Thread.sleep(10);
      }
      assertTrue(process.isAlive(), process.output());
    }
    List<String> loaded =
        Files.readAllLines(classes).stream().takeWhile(line -> !line.startsWith(END)).toList();
    assertTrue(loaded.stream().anyMatch(line -> line.startsWith("io.heddle.transport.Transport ")));
    Map<String, String> found = new HashMap<>(COSTLY);
    found.keySet().removeIf(name -> loaded.stream().noneMatch(line -> isOf(line, name)));
    assertEquals(Map.of(), found, "loaded while NCCL waits, and what for");
  }

  /* Returns whether the line is about this class. A hidden class has a number after its name. */
  private static boolean isOf(String line, String name) {
    return line.startsWith(name + " ") || line.startsWith(name + "/");
  }
}
