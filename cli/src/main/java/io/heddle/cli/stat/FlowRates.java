package io.heddle.cli.stat;

import io.heddle.stats.ProcessStats;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Calculator of rates from the counters of two successive readings. Used by one thread. */
final class FlowRates {
  /** Sort order of the live view. */
  enum Order {
    RATE(Comparator.comparingDouble(FlowRate::bytesPerSecond).reversed()),
    PEER(Comparator.comparing(rate -> rate.now().key().peer())),
    PLANE(Comparator.comparing(rate -> rate.now().key().plane(), io.heddle.addr.Plane.KEY_ORDER)),
    LATENCY(
        Comparator.<FlowRate>comparingLong(rate -> rate.latencies().percentileNs(0.99)).reversed()),
    RESENT(Comparator.comparingDouble(FlowRate::resentPerSecond).reversed());

    private final Comparator<FlowRate> comparator;

    Order(Comparator<FlowRate> comparator) {
      this.comparator = comparator;
    }

    /*
     * Returns the comparator of this order, with failed planes first, so that they are shown even
     * if not all flows fit.
     */
    private Comparator<FlowRate> comparator() {
      return Comparator.<FlowRate, Boolean>comparing(rate -> !rate.isUnused())
          .thenComparing(comparator);
    }
  }

  private record Side(long processId, String namespace, String peer, boolean send) {
    static Side of(Flow flow) {
      Flow.Key key = flow.key();
      return new Side(key.processId(), key.namespace(), key.peer(), flow.isSend());
    }
  }

  private final Order order;
  private final Map<Flow.Key, Flow> before = new HashMap<>();
  private long beforeNs;

  FlowRates(Order order) {
    this.order = order;
  }

  /**
   * Returns the rates since the last reading, sorted. Equal flows keep their order, so that lines
   * don't jump.
   */
  List<FlowRate> update(List<ProcessStats> processes, long nowNs) {
    double seconds = Math.max(1e-9, (nowNs - beforeNs) / 1e9);
    List<Flow> flows = new ArrayList<>();
    processes.forEach(process -> flows.addAll(Flow.of(process)));
    Map<Side, Long> sums = new HashMap<>();
    for (Flow flow : flows) {
      sums.merge(Side.of(flow), moved(flow), Long::sum);
    }
    List<FlowRate> rates = new ArrayList<>();
    for (Flow flow : flows) {
      rates.add(rate(flow, seconds, sums.getOrDefault(Side.of(flow), 0L)));
    }
    before.clear();
    flows.forEach(flow -> before.put(flow.key(), flow));
    beforeNs = nowNs;
    rates.sort(order.comparator());
    return rates;
  }

  /*
   * Returns the bytes since the last reading. Returns 0 for a new flow, and for a counter that fell
   * because a communicator was closed.
   */
  private long moved(Flow flow) {
    Flow earlier = before.get(flow.key());
    return earlier == null ? 0 : Math.max(0, flow.bytes() - earlier.bytes());
  }

  private FlowRate rate(Flow flow, double seconds, long movedByAll) {
    @Nullable Flow earlier = before.get(flow.key());
    if (earlier == null) {
      return new FlowRate(flow, 0, 0, 0, flow.failovers(), flow.latencies());
    }
    long moved = moved(flow);
    return new FlowRate(
        flow,
        moved / seconds,
        movedByAll == 0 ? 0 : (double) moved / movedByAll,
        Math.max(0, flow.resentPackets() - earlier.resentPackets()) / seconds,
        flow.failovers(),
        flow.latencies().minus(earlier.latencies()));
  }
}
