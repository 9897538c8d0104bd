package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.switching.LabSwitches;
import io.heddle.switching.LinkCount;
import io.heddle.tools.job.DeviceCounters;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Contestant that is the plugin on a lab with load-balancing switches. It also reads the counters
 * of the plugin and of the switches.
 */
final class SwitchedContestant implements SwitchedTraffic {
  /**
   * Share of the payload in a packet of the soft device: 8,704 B of payload, and headers of
   * Ethernet, IPv6, UDP, BTH, RETH and ICRC.
   */
  static final double PAYLOAD_SHARE = 8704.0 / (8704 + 14 + 40 + 8 + 12 + 16 + 4);

  private final Cleanup cleanup = new Cleanup();
  private final PluginPerfContestant contestant;
  private final Path statistics;
  private final double rateGbps;

  /**
   * Starts the plugin's ranks.
   *
   * @param policy name of a spray policy, or {@link PerfSwitchingCommand#STANDARD}
   * @param rateGbps rate of a link, Gbit/s
   */
  SwitchedContestant(Lab lab, String policy, Path plugin, PluginPerfPlan plan, double rateGbps)
      throws IOException {
    this.rateGbps = rateGbps;
    boolean standard = policy.equals(PerfSwitchingCommand.STANDARD);
    try {
      statistics = cleanup.add(new RunFolder()).path();
      Map<String, String> environment = new HashMap<>();
      environment.put("HEDDLE_PROVIDER", "soft");
      environment.put("HEDDLE_POLICY", standard ? "pinned" : policy);
      environment.put("HEDDLE_SOFT_PEERS", standard ? "standard" : "soft");
      environment.put("HEDDLE_STATS_DIR", statistics.toString());
      contestant = cleanup.add(new PluginPerfContestant(lab, policy, plugin, plan, environment));
    } catch (IOException | RuntimeException failed) {
      cleanup.close();
      throw failed;
    }
  }

  @Override
  public double rateGbps() {
    return rateGbps;
  }

  @Override
  public double payloadShare() {
    return PAYLOAD_SHARE;
  }

  @Override
  public void awaitWarm() throws InterruptedException {
    contestant.awaitWarm();
  }

  @Override
  public void awaitEnd() throws InterruptedException {
    contestant.awaitEnd();
  }

  @Override
  public Sample sample(PluginPerfPlan.Step step, LabSwitches switching)
      throws IOException, InterruptedException {
    Map<String, Long> counters = DeviceCounters.read(statistics);
    List<LinkCount> links = switching.counts();
    PluginPerfContestant.Sample sample = contestant.sample(step);
    Map<String, Long> after = DeviceCounters.read(statistics);
    List<LinkCount> linksAfter = switching.counts();
    return new Sample(
        sample.figure(),
        sample.messageP99Us() / 1e3,
        since(counters, after, "packets_resent_in_vain") / since(counters, after, "packets_sent"),
        SwitchedTraffic.marked(links, linksAfter));
  }

  private static double since(Map<String, Long> before, Map<String, Long> after, String counter) {
    return after.getOrDefault(counter, 0L) - before.getOrDefault(counter, 0L);
  }

  @Override
  public void close() throws IOException {
    cleanup.close();
  }
}
