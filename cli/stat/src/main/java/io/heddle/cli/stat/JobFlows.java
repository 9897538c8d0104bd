package io.heddle.cli.stat;

import io.heddle.stats.ProcessStats;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What running jobs send, for those who judge it. */
public final class JobFlows {
  private final StatsFolders folders;

  /**
   * What a process sends to a peer over a plane.
   *
   * @param side process and peer
   */
  public record PlaneFlow(
      String side,
      String plane,
      int weight,
      String weightSource,
      long bytes,
      long inFlightBytes,
      long completions,
      long medianNs,
      long resentPackets,
      long failovers,
      long movedBytes) {
    /** Process, peer and plane, for a sentence. */
    public String name() {
      return side + " over " + plane;
    }

    static PlaneFlow of(Flow flow) {
      return new PlaneFlow(
          "process " + flow.key().processId() + " to " + flow.key().peer(),
          flow.key().plane(),
          flow.weight(),
          flow.weightSource(),
          flow.bytes(),
          flow.inFlightBytes(),
          flow.latencies().total(),
          flow.latencies().percentileNs(0.5),
          flow.resentPackets(),
          flow.failovers(),
          flow.movedBytes());
    }
  }

  /**
   * @param folder the only one to look at; null for the usual ones
   */
  public JobFlows(@Nullable Path folder) {
    folders = new StatsFolders(folder);
  }

  /** All processes that are there now. */
  public List<ProcessStats> processes() {
    return folders.running().processes();
  }

  /** The open communicators' sending sides. */
  public List<PlaneFlow> sending() {
    List<PlaneFlow> flows = new ArrayList<>();
    for (ProcessStats process : processes()) {
      Flow.of(process).stream()
          .filter(flow -> flow.isSend() && flow.communicators() > 0)
          .map(PlaneFlow::of)
          .forEach(flows::add);
    }
    return flows;
  }
}
