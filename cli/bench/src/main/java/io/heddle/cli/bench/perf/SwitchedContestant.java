package io.heddle.cli.bench.perf;

import io.heddle.cli.job.DeviceCounters;
import io.heddle.cli.job.RunFolder;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.lab.Lab;
import io.heddle.switching.LabSwitches;
import io.heddle.switching.LinkCount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A plugin on a lab whose switches choose, with what it and they count in a measurement. */
final class SwitchedContestant implements AutoCloseable {
  private final Cleanup cleanup = new Cleanup();
  private final PluginPerfContestant contestant;
  private final Path statistics;

  /**
   * One measurement.
   *
   * @param goodputGbps payload that arrived
   * @param messageP99Ms time of a message which 99 in 100 don't exceed
   * @param inVain packets sent again though the first had arrived, ÷ packets sent; NaN where
   *     nothing was sent
   * @param marked packets with a mark ÷ all that switches chose for; NaN where there were none
   */
  record Sample(double goodputGbps, double messageP99Ms, double inVain, double marked) {}

  /**
   * @param policy a spray policy's name, or {@link PerfSwitchingCommand#STANDARD}
   */
  SwitchedContestant(Lab lab, String policy, Path plugin, PluginPerfPlan plan) throws IOException {
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

  void awaitWarm() throws InterruptedException {
    contestant.awaitWarm();
  }

  void awaitEnd() throws InterruptedException {
    contestant.awaitEnd();
  }

  Sample sample(PluginPerfPlan.Step step, LabSwitches switching)
      throws IOException, InterruptedException {
    Map<String, Long> counters = DeviceCounters.read(statistics);
    List<LinkCount> links = switching.counts();
    PluginPerfContestant.Sample sample = contestant.sample(step);
    Map<String, Long> after = DeviceCounters.read(statistics);
    List<LinkCount> linksAfter = switching.counts();
    double marked = marked(linksAfter) - marked(links);
    double all = all(linksAfter) - all(links);
    return new Sample(
        sample.figure(),
        sample.messageP99Us() / 1e3,
        since(counters, after, "packets_resent_in_vain") / since(counters, after, "packets_sent"),
        marked / all);
  }

  private static double since(Map<String, Long> before, Map<String, Long> after, String counter) {
    return after.getOrDefault(counter, 0L) - before.getOrDefault(counter, 0L);
  }

  private static double marked(List<LinkCount> links) {
    return links.stream().mapToLong(LinkCount::markedPackets).sum();
  }

  private static double all(List<LinkCount> links) {
    return marked(links) + links.stream().mapToLong(LinkCount::otherPackets).sum();
  }

  @Override
  public void close() throws IOException {
    cleanup.close();
  }
}
