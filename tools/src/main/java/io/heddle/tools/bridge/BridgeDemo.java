package io.heddle.tools.bridge;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.platform.Log;
import io.heddle.platform.NetworkNamespace;
import io.heddle.tools.lab.Lab;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Demo of a bridge between two fabrics. Hosts of both fabrics send to each other across the bridge,
 * and a report shows the result.
 */
public final class BridgeDemo {
  private static final int MTU = 4200;
  private static final int TRAIN = 8;
  private static final Path STATUS_NAME = Path.of("status");

  /**
   * Parameters of a run.
   *
   * @param hostsEach number of hosts of each fabric
   * @param groups number of multicast groups: half of them IPv4 (rounded up), half IPv6
   * @param packets number of payloads that each host sends to each group
   * @param payloadBytes bytes of each payload
   * @param trains whether hosts send eight payloads at once, and the bridge sends IPv4 packets as
   *     trains
   */
  public record Plan(int hostsEach, int groups, long packets, int payloadBytes, boolean trains) {}

  /**
   * Results of a run.
   *
   * @param hosts number of hosts of both fabrics together
   * @param groups number of groups
   * @param packetsEach number of payloads that each host sent to each group
   * @param payloadBytes bytes of each payload
   * @param expected number of payloads that hosts should have received from the other fabric
   * @param delivered number of payloads that hosts received from the other fabric, without
   *     duplicates
   * @param duplicates number of payloads that a host received again
   * @param lost number of expected payloads that never arrived
   * @param damaged number of payloads whose CRC or bytes were wrong
   * @param ratio delivered ÷ expected
   * @param within number of payloads that hosts received from their own fabric, without duplicates
   * @param expectedWithin number of payloads that hosts should have received from their own fabric
   * @param seconds duration of the traffic in seconds
   * @param passed whether everything was delivered once and intact
   * @param bridge status of the bridge after the traffic, with its counters
   */
  public record Report(
      int hosts,
      int groups,
      long packetsEach,
      int payloadBytes,
      long expected,
      long delivered,
      long duplicates,
      long lost,
      long damaged,
      double ratio,
      long within,
      long expectedWithin,
      double seconds,
      boolean passed,
      BridgeStatus bridge) {
    String table() {
      return String.format(
          Locale.ROOT,
          """
          %d hosts in two fabrics, %d groups, %d payloads of %d bytes from each host to each group
          across the bridge  delivered %d of %d, ratio %.4f, duplicates %d, lost %d, damaged %d
          inside the fabrics delivered %d of %d
          %.2f s, %.0f packets/s through the bridge
          %s
          """,
          hosts,
          groups,
          packetsEach,
          payloadBytes,
          delivered,
          expected,
          ratio,
          duplicates,
          lost,
          damaged,
          within,
          expectedWithin,
          seconds,
          forwarded() / seconds,
          passed ? "PASSED" : "FAILED");
    }

    private long forwarded() {
      return bridge.groups().stream()
          .flatMap(group -> group.directions().stream())
          .mapToLong(BridgeStatus.Direction::forwarded)
          .sum();
    }
  }

  private final Plan plan;

  public BridgeDemo(Plan plan) {
    this.plan = plan;
  }

  public Report run(Lab.Kind kind) throws IOException {
    try (Cleanup cleanup = new Cleanup()) {
      Path folder = Files.createTempDirectory("heddle-bridge");
      cleanup.add(() -> delete(folder));
      TwoFabrics fabrics = cleanup.add(TwoFabrics.create(kind, plan.hostsEach(), MTU));
      List<Gid> groups = groups();
      Path status = folder.resolve(STATUS_NAME);
      Bridge bridge = cleanup.add(inNamespace(fabrics.namespace(0), config(groups, status)));
      DemoTraffic traffic =
          new DemoTraffic(
              fabrics, groups, plan.packets(), plan.payloadBytes(), plan.trains() ? TRAIN : 1);
      long start = System.nanoTime();
      ProgressLine progress = ProgressLine.onStandardError();
      long expected = traffic.expectedAcross();
      traffic.run(() ->
          progress.update(() -> traffic.deliveredAcross() + " of " + expected + " delivered"));
      progress.clear();
      double seconds = (System.nanoTime() - start) / 1e9;
      bridge.close();
      return report(fabrics, traffic, seconds, BridgeStatus.read(status));
    }
  }

  private Report report(
      TwoFabrics fabrics, DemoTraffic traffic, double seconds, BridgeStatus status) {
    long expected = traffic.expectedAcross();
    long delivered = traffic.deliveredAcross();
    boolean holds =
        delivered == expected
            && traffic.deliveredWithin() == traffic.expectedWithin()
            && traffic.duplicates() == 0
            && traffic.damaged() == 0;
    return new Report(
        fabrics.hosts(),
        plan.groups(),
        plan.packets(),
        plan.payloadBytes(),
        expected,
        delivered,
        traffic.duplicates(),
        expected - delivered,
        traffic.damaged(),
        (double) delivered / expected,
        traffic.deliveredWithin(),
        traffic.expectedWithin(),
        seconds,
        holds,
        status);
  }

  private List<Gid> groups() {
    List<Gid> groups = new ArrayList<>();
    for (int i = 0; i < plan.groups(); i++) {
      int last = i / 2 + 1;
      groups.add(
          i % 2 == 0
              ? new Gid(0, 0xffff_ef01_0100L | last)
              : new Gid(0xff05_0000_0000_0000L, 0x1_0000L | last));
    }
    return groups;
  }

  private BridgeConfig config(List<Gid> groups, Path status) {
    StringBuilder text = new StringBuilder("name = demo\nstatus = " + status);
    String trains = "\ntrains = " + (plan.trains() ? "yes" : "no");
    text.append("\n[fabric a]\ninterface = " + TwoFabrics.interfaceName(0) + own(1) + trains);
    text.append("\n[fabric b]\ninterface = " + TwoFabrics.interfaceName(1) + own(2) + trains);
    groups.forEach(group -> text.append("\n[group " + group + "]"));
    return BridgeConfigParser.parse("the demo's configuration", text.toString());
  }

  private static String own(int fabric) {
    return "\naddress = 10." + fabric + ".0.254,fd0" + fabric + "::254";
  }

  /**
   * Starts a bridge whose sockets are in a namespace. If the bridge fails, the demo's hosts see
   * packet loss.
   */
  public static Bridge inNamespace(String namespace, BridgeConfig config) {
    return inNamespace(namespace, config, () -> {});
  }

  /**
   * Starts a bridge whose sockets are in a namespace.
   *
   * @param whenLost action that runs if the bridge's processing rounds keep failing
   */
  public static Bridge inNamespace(String namespace, BridgeConfig config, Runnable whenLost) {
    return NetworkNamespace.call(
        namespace, () -> Bridge.start(config, Path.of(""), Log.toStandardError(), whenLost));
  }

  private static void delete(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(STATUS_NAME));
    Files.deleteIfExists(folder);
  }
}
