package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.tools.job.DeviceCounters;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Contestant that is the plugin on a lab with load-balancing switches. It also reads the counters
 * of the plugin and of the switches.
 */
final class SwitchedContestant implements SwitchedTraffic {
  private final Cleanup cleanup = new Cleanup();
  private final PluginContestant contestant;
  private final Path statistics;
  private final PluginPlan.Step step;

  /**
   * Starts the plugin's ranks.
   *
   * @param policy name of a spray policy, or {@link PerfSwitchingCommand#STANDARD}
   * @param step measurement of a round
   */
  SwitchedContestant(Lab lab, String policy, Path plugin, PluginPlan plan, PluginPlan.Step step)
      throws IOException {
    this.step = step;
    boolean standard = policy.equals(PerfSwitchingCommand.STANDARD);
    try {
      statistics = cleanup.add(new RunFolder()).path();
      Map<String, String> environment = new HashMap<>();
      environment.put("HEDDLE_PROVIDER", "soft");
      environment.put("HEDDLE_POLICY", standard ? "pinned" : policy);
      environment.put("HEDDLE_SOFT_PEERS", standard ? "standard" : "soft");
      environment.put("HEDDLE_STATS_DIR", statistics.toString());
      contestant = cleanup.add(new PluginContestant(lab, policy, plugin, plan, environment));
    } catch (IOException | RuntimeException failed) {
      cleanup.close();
      throw failed;
    }
  }

  @Override
  public double payloadShare() {
    return MessagesOption.PAYLOAD_SHARE;
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
  public Sample sample() throws IOException, InterruptedException {
    Map<String, Long> counters = DeviceCounters.read(statistics);
    PluginContestant.Sample sample = contestant.sample(step);
    Map<String, Long> after = DeviceCounters.read(statistics);
    return new Sample(
        sample.figure(),
        sample.messageP99Us() / 1e3,
        since(counters, after, "packets_resent_in_vain") / since(counters, after, "packets_sent"));
  }

  private static double since(Map<String, Long> before, Map<String, Long> after, String counter) {
    return after.getOrDefault(counter, 0L) - before.getOrDefault(counter, 0L);
  }

  @Override
  public void close() throws IOException {
    cleanup.close();
  }
}
