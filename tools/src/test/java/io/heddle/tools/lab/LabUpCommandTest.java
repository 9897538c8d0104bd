package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Test of the options of {@code heddle lab up} and of the status table. */
class LabUpCommandTest {
  private static FabricPlan plan(String options) {
    LabUpCommand command = new LabUpCommand();
    CommandLine line = new CommandLine(command);
    line.parseArgs(options.isBlank() ? new String[0] : options.split(" "));
    return command.checkedPlan(line);
  }

  private static String refusal(String options) {
    return String.valueOf(assertThrows(ParameterException.class, () -> plan(options)).getMessage());
  }

  @Test
  void defaultIsFourSpinesOfOneGigabit() {
    FabricPlan plan = plan("");
    assertEquals(FabricShape.LEAF_SPINE, plan.shape());
    assertEquals(4, plan.planes());
    assertEquals(1_000_000_000L, plan.rate(4));
    assertEquals(100, plan.bandwidth(4), "announced a hundred times as fast");
  }

  @Test
  void rateOfASpineAppliesToEachOfItsLinks() {
    FabricPlan plan = plan("--spines 2 --links 2 --rates 1,0.25");
    assertEquals(
        List.of(1_000_000_000L, 1_000_000_000L, 250_000_000L, 250_000_000L),
        plan.ratesBitsPerSecond());
    assertEquals(List.of(100, 100, 25, 25), plan.bandwidthsGbps());
  }

  @Test
  void bandwidthsMayDifferFromRates() {
    assertEquals(
        List.of(400, 200), plan("--spines 2 --rates 1,1 --bandwidths 400,200").bandwidthsGbps());
    assertEquals(List.of(7, 7), plan("--spines 2 --bandwidths 7").bandwidthsGbps());
  }

  @Test
  void separatePlanesAreConfiguredByPlanes() {
    FabricPlan plan = plan("--shape planes --planes 3 --rates 1,2,4");
    assertEquals(0, plan.spines());
    assertEquals(3, plan.leaves());
    assertEquals(List.of(100, 200, 400), plan.bandwidthsGbps());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--planes 2                           | --planes is for --shape planes",
        "--shape planes --spines 2            | --spines is for --shape leaf-spine",
        "--shape planes --links 2             | --links is for --shape leaf-spine",
        "--shape planes --leaves 2            | --leaves is for --shape leaf-spine",
        "--spines 3 --rates 1,2               | --rates names 2 rates for 3 spines",
        "--shape planes --planes 3 --rates 1,2 | --rates names 2 rates for 3 planes",
        "--spines 2 --rates 1,2 --bandwidths 3 | --bandwidths names 1 for 2 --rates",
        "--spines 0                           | spines 0 is not in 1 to 32",
        "--spines 33                          | spines 33 is not in 1 to 32",
        "--links 9 --spines 1                 | links per spine 9 is not in 1 to 8",
        "--links -1                           | links per spine -1 is not in 1 to 8",
        "--hosts 65                           | hosts 65 is not in 1 to 64",
        "--hold 2                             | hold time 2 is not in 3 to 3600",
        "--rates 0.0001                       | rate in bit/s 100000 is not in",
        "--bandwidths 70000                   | path bandwidth in Gbit/s 70000 is not in",
        "--shape ring                         | 'ring' is not a shape of a fabric"
      })
  void invalidPlanIsRejectedNamingTheOption(String options, String sentence) {
    assertTrue(refusal(options.strip()).contains(sentence), () -> refusal(options.strip()));
  }

  private static FabricSwitching switching(String options) {
    LabUpCommand command = new LabUpCommand();
    CommandLine line = new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true);
    line.parseArgs(options.split(" "));
    return command.checkedSwitching(line, command.checkedPlan(line));
  }

  @Test
  void switchingHasThreeModes() {
    assertEquals(SprayScope.GLOBAL, switching("--switching spray").scope());
    FabricSwitching some =
        switching("--switching spraylink --spray-on l1:h1 --spray-to fd00:2::/32 --per-packet");
    assertEquals(SwitchingMode.SPRAYLINK, some.mode());
    assertEquals(new SprayScope(List.of("l1:h1"), List.of("fd00:2::/32")), some.scope());
    assertTrue(some.perPacket());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--polarised | --polarised requires --switching",
        "--spray-on l1:h1 | --spray-on requires --switching",
        "--switching spray --spray-to 10.0.0.0/8 | --spray-to 10.0.0.0/8 is not an IPv6 prefix",
        "--switching spray --spray-to fd00 | --spray-to:",
        "--switching spray --shape planes | --switching requires --shape leaf-spine",
        "--switching spray --spines 1 | two or more spines or links"
      })
  void invalidSwitchingOptionsAreRejected(String options, String sentence) {
    String refusal =
        String.valueOf(
            assertThrows(ParameterException.class, () -> switching(options.strip())).getMessage());
    assertTrue(refusal.contains(sentence), refusal);
  }

  @ParameterizedTest
  @CsvSource({
    "0.001, 1",
    "0.01, 1",
    "0.014, 1",
    "0.015, 2",
    "1, 100",
    "655.35, 65535",
    "9999, 65535"
  })
  void announcedBandwidthStaysWithinTheCommunity(double gbps, int announced) {
    assertEquals(announced, LabUpCommand.announced(gbps));
  }

  private static FabricStatus status(boolean healthy, List<String> borrowed, List<String> cuts) {
    return new FabricStatus(
        "lab",
        "leaf-spine",
        "2026-01-02T03:04:05Z",
        healthy,
        List.of(
            new FabricStatus.PlaneStatus(1, "s1", 1, 100, 4_096, 3, 2, 2, List.of(), List.of()),
            new FabricStatus.PlaneStatus(2, "s2", 0.5, 50, 0, 0, 0, 0, borrowed, cuts)),
        List.of(
            new FabricStatus.RouterStatus("l1", "bird", List.of(17L), true, 2, 2, 1),
            new FabricStatus.RouterStatus("l2", "frr", List.of(18L, 19L), healthy, 1, 2, 0)),
        List.of(
            new FabricStatus.HostStatus(
                "h1", "heddle-lab-h1", List.of("fd00:1:1:1:0:ff:fe00:101"), List.of("plane 2"))));
  }

  @Test
  void tableOfAHealthyFabricHasPlanesRoutersAndHosts() {
    assertEquals(
        """
        # lab lab: leaf-spine, created 2026-01-02T03:04:05Z
        # plane  via            Gbit/s  announced   received bytes      packets   paths  faults
              1  s1              1.000        100             4096            3     2/2
              2  s2              0.500         50                0            0       -
        # router program  pids       sessions    from hosts
          l1     bird     17              2/2             1
          l2     frr      18,19           1/2             0
        # h1 in namespace heddle-lab-h1
          fd00:1:1:1:0:ff:fe00:101
          plane 2 MISSING
        healthy
        """,
        LabReport.of(status(true, List.of(), List.of())));
  }

  @Test
  void tableHasCutsAndDiversionsOfEachPlane() {
    String both = LabReport.of(status(false, List.of("l1:s1", "l2:s1"), List.of("l1:s2 carrier")));
    assertTrue(both.contains("-  cut: l1:s2 carrier; diverted over l1:s1, l2:s1\n"), both);
    assertTrue(both.contains("1/2             0  DEAD\n"), both);
    assertTrue(both.endsWith("NOT HEALTHY\n"), both);
    String borrowed = LabReport.of(status(false, List.of("l1:s1"), List.of()));
    assertTrue(borrowed.contains("-  diverted over l1:s1\n"), borrowed);
    String cut = LabReport.of(status(false, List.of(), List.of("l1:s2 silent")));
    assertTrue(cut.contains("-  cut: l1:s2 silent\n"), cut);
  }
}
