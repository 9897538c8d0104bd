package io.heddle.tools.wan.figure;

import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Simulated gateway without real traffic. Its reports contain rates, segment lists, rules and
 * growing counters. A rule takes effect at once. For any thread.
 */
final class SimulatedGateway implements Supplier<GatewayReport> {
  static final String POLICY = "wan";
  private static final double NS_PER_SECOND = 1e9;
  private static final double BITS_PER_OCTET = 8;
  private static final int KEPT_SAMPLES = 64;

  /**
   * Age in ns up to which the last sample is reported again, if nothing changed. A real gateway
   * samples five times a second.
   */
  private static final long SAME_SAMPLE_NS = 20_000_000;

  private static final int PACKET_BYTES = 4_000;

  /** Elephant flow. */
  private record Flow(int queuePair, double bitsPerSecond, int listByHash, int list) {
    Flow by(int other) {
      return new Flow(queuePair, bitsPerSecond, listByHash, other);
    }
  }

  private final String source;
  private final String destination;
  private final String setBy;
  private final Map<Integer, Flow> flows = new TreeMap<>();
  private final List<String> segments;
  private final List<List<String>> segmentLists;
  private final double[] octets;
  private final Deque<Long> samples = new ArrayDeque<>();
  private long countedNs = System.nanoTime();
  private long sampledNs;
  private boolean changed = true;
  private GatewayReport report;

  /**
   * @param number number of the gateway, from 1
   * @param lists number of segment lists
   * @param setBy origin of rules, as the gateway's reports name it
   */
  SimulatedGateway(int number, int lists, String setBy) {
    source = "fc00:1:%x::1".formatted(number);
    destination = "fc00:2:%x::2".formatted(number);
    this.setBy = setBy;
    octets = new double[lists];
    segments = IntStream.rangeClosed(1, lists).mapToObj("5f00:0:%s::1"::formatted).toList();
    segmentLists = segments.stream().map(List::of).toList();
    report = sample();
  }

  String source() {
    return source;
  }

  String destination() {
    return destination;
  }

  /** Starts an elephant on the segment list that its hash selects. */
  synchronized void begin(int queuePair, double bitsPerSecond, int list) {
    count();
    flows.put(queuePair, new Flow(queuePair, bitsPerSecond, list, list));
    changed = true;
  }

  /** Ends all elephants. */
  synchronized void endAll() {
    count();
    flows.clear();
    changed = true;
  }

  /** Applies a rule that moves an elephant to a segment list. */
  synchronized void steer(int queuePair, int list) {
    count();
    flows.computeIfPresent(queuePair, (same, flow) -> flow.by(list));
  }

  /** Withdraws an elephant's rule, so that it uses the list of its hash again. */
  synchronized void release(int queuePair) {
    count();
    flows.computeIfPresent(queuePair, (same, flow) -> flow.by(flow.listByHash()));
  }

  /**
   * Returns the time at which the last report before this moment was read; the moment itself if
   * there was none. Times are by System.nanoTime.
   */
  synchronized long sampleBefore(long nanoTime) {
    long last = nanoTime;
    for (long each : samples) {
      if (each <= nanoTime) {
        last = each;
      }
    }
    return last;
  }

  @Override
  public synchronized GatewayReport get() {
    long now = System.nanoTime();
    if (changed || now - sampledNs > SAME_SAMPLE_NS) {
      sampledNs = now;
      changed = false;
      report = sample();
    }
    samples.addLast(System.nanoTime());
    if (samples.size() > KEPT_SAMPLES) {
      samples.removeFirst();
    }
    return report;
  }

  private void count() {
    long now = System.nanoTime();
    double seconds = (now - countedNs) / NS_PER_SECOND;
    countedNs = now;
    for (Flow each : flows.values()) {
      octets[each.list() - 1] += seconds * each.bitsPerSecond() / BITS_PER_OCTET;
    }
  }

  private GatewayReport sample() {
    count();
    Instant now = Instant.now();
    String time = now.toString();
    List<ListReport> lists = new ArrayList<>();
    List<InterfaceReport> interfaces = new ArrayList<>();
    for (int list = 1; list <= octets.length; list++) {
      long sent = (long) octets[list - 1];
      lists.add(
          new ListReport(
              list,
              "sl" + list,
              POLICY,
              true,
              null,
              1,
              segmentLists.get(list - 1),
              "w" + list,
              sent,
              sent / PACKET_BYTES,
              0,
              null,
              null));
      interfaces.add(new InterfaceReport("w" + list, sent));
    }
    List<ElephantReport> elephants = new ArrayList<>();
    List<RuleReport> rules = new ArrayList<>();
    for (Flow each : flows.values()) {
      boolean steered = each.list() != each.listByHash();
      elephants.add(elephant(each, steered, time));
      if (steered) {
        rules.add(
            new RuleReport(
                destination, each.queuePair(), source, each.list(), true, null, setBy, true));
      }
    }
    long epochNs = now.getEpochSecond() * 1_000_000_000 + now.getNano();
    return new GatewayReport(epochNs, lists, elephants, rules, interfaces);
  }

  private ElephantReport elephant(Flow flow, boolean steered, String time) {
    return new ElephantReport(
        destination,
        flow.queuePair(),
        source,
        50_000,
        POLICY,
        0,
        null,
        0,
        0,
        (long) flow.bitsPerSecond(),
        flow.list(),
        flow.listByHash(),
        steered ? setBy : null,
        flow.queuePair(),
        segments.get(flow.list() - 1),
        time,
        time);
  }
}
