package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of the guarantees that NCCL expects of a plugin. Two processes on separate hosts check
 * them, over good and bad links.
 */
@EndsWithin(240)
@SystemTest
final class ConformanceTest {
  private static final long LIMIT_SECONDS = 180;
  private static final long BIG_BYTES = 1L << 30;

  /** Memory that two processes with the largest buffers need, including the kernel's memory. */
  private static final long BIG_NEEDS_KIB = 4L << 20;

  @TempDir private Path folder;
  private final long seed = System.nanoTime() & Integer.MAX_VALUE;

  private List<String> command(int rank, String... more) {
    List<String> command = new ArrayList<>(List.of(BuildOutputs.conformance().toString()));
    command.addAll(
        List.of("--plugin", BuildOutputs.plugin().toString(), "--rendezvous", folder.toString()));
    command.addAll(List.of("--rank", Integer.toString(rank), "--seed", Long.toString(seed)));
    command.addAll(List.of(more));
    return command;
  }

  /** Runs both processes, asserts that they pass, and returns the outputs of both. */
  private String runBoth(Map<String, String> first, Map<String, String> second, String... more)
      throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    List<String> sending = command(0, more);
    List<String> receiving = command(1, more);
    System.out.println("seed " + seed);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 4, 9000))) {
      return runBoth(lab, first, second, sending, receiving);
    }
  }

  private String runBoth(
      Lab lab,
      Map<String, String> first,
      Map<String, String> second,
      List<String> sending,
      List<String> receiving)
      throws IOException, InterruptedException {
    try (HostProcess sender =
            HostProcess.start(lab, 0, folder.resolve("sender.log"), first, sending);
        HostProcess receiver =
            HostProcess.start(lab, 1, folder.resolve("receiver.log"), second, receiving)) {
      int sent = sender.exitCode(LIMIT_SECONDS);
      int received = receiver.exitCode(LIMIT_SECONDS);
      String output =
          "seed " + seed + "\nsender:\n" + sender.output() + "receiver:\n" + receiver.output();
      assertEquals(0, sent, output);
      assertEquals(0, received, output);
      assertTrue(sender.output().contains("ok 1 - "), output);
      assertFalse(output.contains("not ok"), output);
      return output;
    }
  }

  @Test
  void everyCaseHoldsOverFourPlanes() throws IOException, InterruptedException {
    runBoth(Map.of(), Map.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"loss=0.01", "duplicate=0.01", "reorder=0.01", "corrupt=0.01"})
  @WholeRunOnly(alwaysRunRows = 1)
  void everyCaseHoldsOverBadLink(String fault) throws IOException, InterruptedException {
    Map<String, String> environment = Map.of("HEDDLE_SOFT_FAULTS", fault + ",seed=" + seed);
    runBoth(environment, environment, "--case", "random_sizes_and_orders");
  }

  @Test
  void everyCaseHoldsUnderAllFaultsTogether() throws IOException, InterruptedException {
    Map<String, String> environment =
        Map.of(
            "HEDDLE_SOFT_FAULTS",
            "loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01,seed=" + seed);
    runBoth(environment, environment, "--case", "random_sizes_and_orders");
  }

  @Test
  void peersWithDifferentPlanesUseCommonOnes() throws IOException, InterruptedException {
    runBoth(
        Map.of("HEDDLE_PLANES", "e1=1,e2=2,e3=3"),
        Map.of("HEDDLE_PLANES", "e2=2,e3=3,e4=4"),
        "--case",
        "random_sizes_and_orders");
  }

  @Test
  void ipv4FabricHasPlanes() throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 4, 9000))) {
      Ipv4Fabric.renumber(lab, 0);
      Ipv4Fabric.renumber(lab, 1);
      Map<String, String> none = Map.of();
      String output = runBoth(lab, none, none, command(0), command(1));
      assertTrue(output.contains("with 10.7.1.2 "), output);
      List<Long> sent = lab.sentBytesByPlane();
      assertTrue(sent.stream().allMatch(bytes -> bytes > 1 << 20), "each carries data: " + sent);
    }
  }

  @Test
  void onePlaneIsEnough() throws IOException, InterruptedException {
    Map<String, String> environment = Map.of("HEDDLE_PLANES", "e1=1");
    runBoth(environment, environment, "--case", "random_sizes_and_orders");
  }

  @Test
  @WholeRunOnly
  void aMessageOfAGibibyteArrives() throws IOException, InterruptedException {
    long available =
        Files.readAllLines(Path.of("/proc/meminfo")).stream()
            .filter(line -> line.startsWith("MemAvailable:"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
            .findFirst()
            .orElse(0);
    if (available < BIG_NEEDS_KIB) {
      Skip.because("1 GiB needs 4 GiB of free memory, there are " + available / 1024 + " MiB");
    }
    runBoth(
        Map.of(), Map.of(), "--case", "one_big_message", "--big-bytes", Long.toString(BIG_BYTES));
  }

  @Test
  void hostWithoutUsableAddressLogsReason() throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    List<String> command = command(0);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000));
        HostProcess process =
            HostProcess.start(
                lab, 0, folder.resolve("host.log"), Map.of("HEDDLE_PLANES", "e9=1"), command)) {
      int code = process.exitCode(30);
      assertTrue(
          code > 0 && code < 128, "an error, not a crash: " + code + "\n" + process.output());
      assertTrue(process.output().contains("HEDDLE_PLANES"), process.output());
    }
  }
}
