package io.heddle.cli.doctor;

import io.heddle.cli.stat.JobFlows;
import io.heddle.cli.stat.JobFlows.PlaneFlow;
import io.heddle.platform.HeddleException;
import io.heddle.stats.ProcessStats;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Check of running jobs by their own counters for each plane. */
final class JobsCheck implements Check {
  private static final Cause RETRIES =
      new Cause(
          "error-12",
          "work requests ended with RETRY_EXCEEDED (error 12): the peer's address on that plane did"
              + " not answer");
  private static final Cause WARNED = new Cause("job-warned", "a job has logged another fault");
  private static final Cause FAILED_OVER =
      new Cause("job-failed-over", "a job runs without a plane, or did for a while");
  private static final Cause STALLED =
      new Cause("job-stalled", "bytes are in flight and none is acknowledged: the job hangs");
  private static final Cause SLOW =
      new Cause(
          "plane-slow", "one plane to a peer takes much longer than the others to the same peer");
  private static final Cause SHARE =
      new Cause("share-off", "a plane's share of the bytes differs from its weight");
  private static final Cause LOSSY = new Cause("plane-lossy", "a plane loses packets");
  private static final Cause COPIED =
      new Cause(
          "trains-copied",
          "a job's soft device copies its large bursts; on other hosts these leave without a"
              + " copy");
  private static final Cause STRAY =
      new Cause("plane-strays", "a plane's bytes leave by another interface than its address's");
  private static final long ENOUGH_TRAINS = 1000;
  private static final long INTERVAL_MS = 300;
  private static final long ENOUGH_BYTES = 64L << 20;
  private static final long ENOUGH_COMPLETIONS = 1000;
  private static final double SHARE_FACTOR = 1.3;
  private static final double SLOW_FACTOR = 5;
  private static final double LOSSY_SHARE = 0.001;
  private static final int PACKET_BYTES = 4096;

  @Override
  public String name() {
    return "jobs";
  }

  @Override
  public String summary() {
    return "Statistics of the processes that run with the plugin now, read twice, 0.3 s apart.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(RETRIES, WARNED, FAILED_OVER, STALLED, SLOW, SHARE, LOSSY, COPIED, STRAY);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    JobFlows flows = new JobFlows(host.places().stats());
    try {
      List<ProcessStats> processes = flows.processes();
      if (processes.isEmpty()) {
        return List.of(new Finding.Ok("no process runs with the plugin"));
      }
      processes.forEach(process -> errors(process, findings));
      processes.forEach(process -> copies(process, findings));
      Map<String, PlaneFlow> before = new HashMap<>();
      flows.sending().forEach(flow -> before.put(flow.name(), flow));
      /*
       * The interfaces' counters are read before the flows' and, at the end of the interval, after
       * them. So the interfaces' interval is the longer one and includes all bytes of the flows.
       */
      Map<String, Long> left = StrayBytes.byInterface();
      Map<String, Long> sent = flows.sentByUserSpaceDevice();
      TimeUnit.MILLISECONDS.sleep(INTERVAL_MS);
      sent = StrayBytes.added(sent, flows.sentByUserSpaceDevice());
      left = StrayBytes.added(left, StrayBytes.byInterface());
      strays(host, sent, left, findings);
      Map<String, List<PlaneFlow>> byPeer = new HashMap<>();
      for (PlaneFlow flow : flows.sending()) {
        checkFlow(flow, before.get(flow.name()), findings);
        byPeer.computeIfAbsent(flow.side(), side -> new ArrayList<>()).add(flow);
      }
      byPeer.values().forEach(planes -> together(planes, findings));
      if (findings.isEmpty()) {
        findings.add(new Finding.Ok(processes.size() + " processes, no problem"));
      }
    } catch (HeddleException unreadable) {
      findings.add(new Finding.Unknown(String.valueOf(unreadable.getMessage())));
    } catch (IOException unreadable) {
      findings.add(new Finding.Unknown("interfaces' counters can't be read: " + unreadable));
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
    return findings;
  }

  private static void strays(
      Host host, Map<String, Long> sent, Map<String, Long> left, List<Finding> findings) {
    Map<String, String> interfaces = new HashMap<>();
    host.planes().planes().forEach(plane -> interfaces.put(plane.key(), plane.link().name()));
    for (StrayBytes.Stray stray : StrayBytes.find(sent, interfaces, left)) {
      findings.add(
          new Finding.Fault(
              STRAY,
              "%s: %s bytes in %s ms, of which its interface %s sent %s; %s sent %s"
                  .formatted(
                      stray.plane(),
                      stray.bytes(),
                      INTERVAL_MS,
                      stray.own(),
                      stray.ownBytes(),
                      stray.other(),
                      stray.otherBytes()),
              "check the route to the peer (ip route get ADDRESS from the plane's address): a route"
                  + " or a rule of this host selects another interface"));
    }
  }

  private static void errors(ProcessStats process, List<Finding> findings) {
    for (ProcessStats.DistinctError error : process.errors()) {
      String evidence =
          "process %s, %s times: %s"
              .formatted(process.processId(), error.count(), error.sentence());
      findings.add(
          error.sentence().contains("RETRY_EXCEEDED")
              ? new Finding.Fault(
                  RETRIES,
                  evidence,
                  "heddle doctor --peer with the address named there shows whether the plane"
                      + " carries packets")
              : new Finding.Warning(WARNED, evidence, "heddle errors shows all of them"));
    }
  }

  private static void copies(ProcessStats process, List<Finding> findings) {
    long zeroCopy = process.deviceCounters().getOrDefault("soft0/trains_zero_copy", 0L);
    long copied = process.deviceCounters().getOrDefault("soft0/trains_copied", 0L);
    /* Copies of small messages and of single bursts aren't a fault. */
    if (copied >= ENOUGH_TRAINS && zeroCopy == 0) {
      findings.add(
          new Finding.Warning(
              COPIED,
              "process %s: soft0 has copied all of %s large bursts"
                  .formatted(process.processId(), copied),
              "see device-slowed; if it isn't reported, the path supports no zero-copy: IPsec, or"
                  + " no checksum offload (heddle errors)"));
    }
  }

  private static void checkFlow(
      PlaneFlow flow, @org.jspecify.annotations.Nullable PlaneFlow before, List<Finding> findings) {
    if (flow.failovers() > 0) {
      findings.add(
          new Finding.Warning(
              FAILED_OVER,
              "%s: %s times, %s bytes went over other planes"
                  .formatted(flow.name(), flow.failovers(), flow.movedBytes()),
              "check that plane at the leaf and at the host"));
    }
    if (before != null
        && before.inFlightBytes() > 0
        && flow.inFlightBytes() > 0
        && flow.completions() == before.completions()) {
      findings.add(
          new Finding.Warning(
              STALLED,
              "%s: %s bytes in flight, none acknowledged in %s ms"
                  .formatted(flow.name(), flow.inFlightBytes(), INTERVAL_MS),
              "heddle doctor --peer with the peer's address; heddle errors on both hosts"));
    }
    double packets = Math.max(1, flow.bytes() / (double) PACKET_BYTES);
    if (flow.bytes() > ENOUGH_BYTES && flow.resentPackets() / packets > LOSSY_SHARE) {
      findings.add(
          new Finding.Warning(
              LOSSY,
              String.format(
                  Locale.ROOT,
                  "%s: %d packets retransmitted, about %.2f %%",
                  flow.name(),
                  flow.resentPackets(),
                  100 * flow.resentPackets() / packets),
              "check drops and errors of that plane's ports (ethtool -S, the leaf's counters)"));
    }
  }

  private static void together(List<PlaneFlow> planes, List<Finding> findings) {
    long bytes = planes.stream().mapToLong(PlaneFlow::bytes).sum();
    double weights = planes.stream().mapToInt(PlaneFlow::weight).sum();
    for (PlaneFlow flow : planes) {
      double expected = weights == 0 ? 0 : flow.weight() / weights;
      double carried = flow.bytes() / (double) Math.max(1, bytes);
      if (bytes > ENOUGH_BYTES
          && (carried > expected * SHARE_FACTOR || expected > carried * SHARE_FACTOR)) {
        findings.add(
            new Finding.Warning(
                SHARE,
                String.format(
                    Locale.ROOT,
                    "%s: carried %.0f %%, its weight says %.0f %% (%s)",
                    flow.name(),
                    100 * carried,
                    100 * expected,
                    flow.weightSource()),
                "a plane below its weight is slower than its routes say; heddle stat --watch shows"
                    + " current rates"));
      }
      double others =
          planes.stream()
              .filter(other -> other != flow && other.completions() > ENOUGH_COMPLETIONS)
              .mapToLong(PlaneFlow::medianNs)
              .average()
              .orElse(Double.MAX_VALUE);
      if (flow.completions() > ENOUGH_COMPLETIONS && flow.medianNs() > SLOW_FACTOR * others) {
        findings.add(
            new Finding.Warning(
                SLOW,
                String.format(
                    Locale.ROOT,
                    "%s: half of its work takes more than %d us, on other planes %.0f us",
                    flow.name(),
                    flow.medianNs() / 1000,
                    others / 1000),
                "heddle doctor --peer shows its MTU and round trip; check the leaf's queues"));
      }
    }
  }
}
