package io.heddle.cli.stat;

import io.heddle.stats.ProcessStats;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reader of the flows of running jobs, for checks. */
public final class JobFlows {
  private final StatsFolders folders;

  /**
   * Traffic of a process to a peer over a plane.
   *
   * @param side process and peer, as part of a sentence
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
    /** Returns process, peer and plane, as part of a sentence. */
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
   * Creates a reader.
   *
   * @param folder the only folder to read; null for the usual folders
   */
  public JobFlows(@Nullable Path folder) {
    folders = new StatsFolders(folder);
  }

  /** Returns the statistics of all processes that run now. */
  public List<ProcessStats> processes() {
    return folders.running().processes();
  }

  /**
   * Returns the bytes by plane that processes of this network namespace have sent with the soft
   * device. Its packets pass through the kernel, which counts them by interface.
   */
  public Map<String, Long> sentByUserSpaceDevice() {
    Map<String, Long> sent = new HashMap<>();
    for (ProcessStats process : processes()) {
      boolean isSoft =
          process.deviceCounters().keySet().stream().anyMatch(name -> name.startsWith("soft"));
      if (isSoft && isOfThisNetwork(process.processId())) {
        Flow.of(process).stream()
            .filter(Flow::isSend)
            .forEach(flow -> sent.merge(flow.key().plane(), flow.bytes(), Long::sum));
      }
    }
    return sent;
  }

  /*
   * Returns whether a process is in this network namespace; false if this user may not inspect it.
   */
  private static boolean isOfThisNetwork(long processId) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/" + processId + "/ns/net"))
          .equals(Files.readSymbolicLink(Path.of("/proc/self/ns/net")));
    } catch (IOException refused) {
      return false;
    }
  }

  /** Returns the sending flows of open communicators. */
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
