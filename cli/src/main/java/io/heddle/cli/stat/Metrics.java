package io.heddle.cli.stat;

import io.heddle.platform.HeddleException;
import io.heddle.stats.Latencies;
import io.heddle.stats.ProcessStats;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Prometheus metrics of all processes, read at each scrape. */
final class Metrics implements MultiCollector {
  private static final double NANO = 1e-9;

  /*
   * Number of buckets of a statistics file's histogram that form one Prometheus bucket. So each
   * Prometheus bucket ends at twice the bound of the one before. This saves time series;
   * percentiles are accurate within a factor of two.
   */
  private static final int BUCKETS_A_BOUND = 8;

  private final StatsFolders folders;

  Metrics(StatsFolders folders) {
    this.folders = folders;
  }

  /* Metric with a value for each flow that the predicate accepts, such as sends only. */
  private record FlowMetric(
      String name, String help, Predicate<Flow> where, ToDoubleFunction<Flow> value) {
    static FlowMetric of(String name, String help, ToDoubleFunction<Flow> value) {
      return new FlowMetric(name, help, flow -> true, value);
    }

    static FlowMetric ofSends(String name, String help, ToDoubleFunction<Flow> value) {
      return new FlowMetric(name, help, Flow::isSend, value);
    }

    static FlowMetric ofReceives(String name, String help, ToDoubleFunction<Flow> value) {
      return new FlowMetric(name, help, flow -> !flow.isSend(), value);
    }

    static FlowMetric ofOneSided(String name, String help, ToDoubleFunction<Flow> value) {
      return new FlowMetric(name, help, flow -> flow.oneSided().hasOperations(), value);
    }

    static FlowMetric ofOneSidedSends(String name, String help, ToDoubleFunction<Flow> value) {
      return new FlowMetric(
          name, help, flow -> flow.isSend() && flow.oneSided().hasOperations(), value);
    }

    <P> Stream<P> points(List<Flow> flows, BiFunction<Labels, Double, P> point) {
      return flows.stream()
          .filter(where)
          .map(flow -> point.apply(labels(flow), value.applyAsDouble(flow)));
    }
  }

  private static final List<FlowMetric> COUNTERS =
      List.of(
          FlowMetric.of("heddle_bytes", "Message bytes sent or received.", Flow::bytes),
          FlowMetric.of("heddle_chunks", "Chunks sent or received.", Flow::chunks),
          FlowMetric.of(
              "heddle_messages",
              "Messages, counted on a communicator's first plane.",
              Flow::messages),
          FlowMetric.of(
              "heddle_would_block",
              "Calls answered with \"call again\", counted on a communicator's first plane.",
              Flow::wouldBlock),
          FlowMetric.ofSends(
              "heddle_cut_sends",
              "Sends longer than their receives and truncated to them, counted on a"
                  + " communicator's first plane.",
              Flow::cutSends),
          FlowMetric.of(
              "heddle_resent_packets",
              "Packets that the device retransmitted, if it counts them.",
              Flow::resentPackets),
          FlowMetric.ofReceives(
              "heddle_duplicate_chunks", "Chunks received more than once.", Flow::duplicates),
          FlowMetric.of(
              "heddle_failovers",
              "Times that a communicator continued without the plane.",
              Flow::failovers),
          FlowMetric.ofSends(
              "heddle_moved_chunks",
              "Chunks that went over another plane after this one failed.",
              Flow::movedChunks),
          FlowMetric.ofSends("heddle_moved_bytes", "Bytes of the moved chunks.", Flow::movedBytes),
          FlowMetric.ofOneSided(
              "heddle_puts",
              "One-sided writes started, or at the other end received, counted on a"
                  + " communicator's first plane; no series without one-sided operations.",
              flow -> flow.oneSided().puts()),
          FlowMetric.ofOneSided(
              "heddle_signals",
              "Signals sent with puts, or at the other end applied, counted on a"
                  + " communicator's first plane.",
              flow -> flow.oneSided().signals()),
          FlowMetric.ofOneSidedSends(
              "heddle_gets",
              "One-sided reads started, counted on a communicator's first plane.",
              flow -> flow.oneSided().gets()),
          FlowMetric.ofOneSidedSends(
              "heddle_get_bytes",
              "Bytes read by one-sided reads.",
              flow -> flow.oneSided().getBytes()),
          FlowMetric.ofOneSidedSends(
              "heddle_flushes",
              "Flushes of one-sided reads, counted on a communicator's first plane.",
              flow -> flow.oneSided().flushes()));

  private static final List<FlowMetric> GAUGES =
      List.of(
          FlowMetric.ofSends(
              "heddle_in_flight_bytes",
              "Bytes that the peer's device hasn't acknowledged.",
              Flow::inFlightBytes),
          FlowMetric.of(
              "heddle_communicators", "Open communicators on the plane.", Flow::communicators),
          FlowMetric.of(
              "heddle_plane_weight_since_seconds",
              "Time of the weight's last change, in seconds since 1970.",
              flow -> flow.weightSinceMs() / 1e3));

  @Override
  public MetricSnapshots collect() {
    StatsFolders.Found found = found();
    List<ProcessStats> processes = found.processes();
    List<Flow> flows = new ArrayList<>();
    processes.forEach(process -> flows.addAll(Flow.of(process)));
    List<MetricSnapshot> all = new ArrayList<>();
    for (FlowMetric number : COUNTERS) {
      all.add(counter(number.name, number.help, number.points(flows, Metrics::count)));
    }
    for (FlowMetric number : GAUGES) {
      all.add(gauge(number.name, number.help, number.points(flows, Metrics::level)));
    }
    all.add(weights(flows));
    all.add(completions(flows));
    all.add(reordering(flows));
    all.add(devices(processes));
    all.add(errors(processes));
    all.add(starts(processes));
    all.add(
        gauge(
            "heddle_unreadable_statistics",
            "Statistics files and folders that can't be read; heddle stat shows the reasons.",
            Stream.of(level(Labels.EMPTY, found.unreadable().size()))));
    return new MetricSnapshots(all);
  }

  /*
   * Returns the present statistics. An unreadable folder is reported like an unreadable file, since
   * the next scrape may be able to read it.
   */
  private StatsFolders.Found found() {
    try {
      return folders.running();
    } catch (HeddleException unreadable) {
      return new StatsFolders.Found(List.of(), List.of(String.valueOf(unreadable.getMessage())));
    }
  }

  private static MetricSnapshot counter(
      String name, String help, Stream<CounterDataPointSnapshot> points) {
    CounterSnapshot.Builder builder = CounterSnapshot.builder().name(name).help(help);
    points.forEach(builder::dataPoint);
    return builder.build();
  }

  private static CounterDataPointSnapshot count(Labels labels, double value) {
    return CounterDataPointSnapshot.builder().labels(labels).value(value).build();
  }

  private static MetricSnapshot gauge(
      String name, String help, Stream<GaugeDataPointSnapshot> points) {
    GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(name).help(help);
    points.forEach(builder::dataPoint);
    return builder.build();
  }

  private static GaugeDataPointSnapshot level(Labels labels, double value) {
    return GaugeDataPointSnapshot.builder().labels(labels).value(value).build();
  }

  private static MetricSnapshot histogram(
      String name, String help, Stream<HistogramDataPointSnapshot> points) {
    HistogramSnapshot.Builder builder = HistogramSnapshot.builder().name(name).help(help);
    points.forEach(builder::dataPoint);
    return builder.build();
  }

  private static Labels labels(Flow flow) {
    return Labels.of(
        "process",
        Long.toString(flow.key().processId()),
        "namespace",
        flow.key().namespace(),
        "peer",
        flow.key().peer(),
        "plane",
        flow.key().plane(),
        "direction",
        flow.isSend() ? "send" : "receive");
  }

  private static Labels labels(ProcessStats process) {
    return Labels.of(
        "process", Long.toString(process.processId()), "namespace", process.namespace());
  }

  private static MetricSnapshot weights(List<Flow> flows) {
    return gauge(
        "heddle_plane_weight",
        "The plane's weight, and its source.",
        flows.stream()
            .map(flow -> level(labels(flow).add("source", flow.weightSource()), flow.weight())));
  }

  private static MetricSnapshot completions(List<Flow> flows) {
    return histogram(
        "heddle_completion_seconds",
        "Time from a work request's post to its acknowledgement.",
        flows.stream().map(Metrics::completions));
  }

  private static HistogramDataPointSnapshot completions(Flow flow) {
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    long[] counts = flow.latencies().counts();
    long sum = 0;
    for (int i = 0; i < Latencies.BUCKETS - 1; i++) {
      sum += counts[i];
      if (i % BUCKETS_A_BOUND == 0) {
        buckets.bucket(Latencies.boundNs(i) * NANO, sum);
        sum = 0;
      }
    }
    buckets.bucket(Double.POSITIVE_INFINITY, sum + counts[Latencies.BUCKETS - 1]);
    return distribution(flow, buckets, flow.latencies().sumNs() * NANO);
  }

  private static HistogramDataPointSnapshot distribution(
      Flow flow, ClassicHistogramBuckets.Builder buckets, double sum) {
    HistogramDataPointSnapshot.Builder point = HistogramDataPointSnapshot.builder();
    point.labels(labels(flow));
    point.classicHistogramBuckets(buckets.build());
    point.sum(sum);
    return point.build();
  }

  private static MetricSnapshot reordering(List<Flow> flows) {
    return histogram(
        "heddle_chunks_ahead",
        "Chunks by their distance ahead of their message's first missing one; with the policy"
            + " packet, packets by their distance ahead of the first missing one.",
        flows.stream().filter(flow -> !flow.isSend()).map(Metrics::reordering));
  }

  private static HistogramDataPointSnapshot reordering(Flow flow) {
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    double sum = 0;
    for (int i = 0; i < flow.reordering().length; i++) {
      buckets.bucket((1 << i) - 1, flow.reordering()[i]);
      sum += flow.reordering()[i] * ((1 << i) - 1) * 0.75;
    }
    buckets.bucket(Double.POSITIVE_INFINITY, 0);
    return distribution(flow, buckets, sum);
  }

  private static MetricSnapshot devices(List<ProcessStats> processes) {
    return counter(
        "heddle_device_events",
        "Counters of a device: packets, packet trains, bytes, timeouts, drops by" + " reason.",
        processes.stream()
            .flatMap(process ->
                process.deviceCounters().entrySet().stream()
                    .map(event -> count(deviceLabels(process, event.getKey()), event.getValue()))));
  }

  /* Returns the labels of a device counter, whose name is device/event. */
  private static Labels deviceLabels(ProcessStats process, String name) {
    int slash = name.indexOf('/');
    return labels(process)
        .add("device", name.substring(0, Math.max(slash, 0)))
        .add("event", name.substring(slash + 1));
  }

  private static MetricSnapshot errors(List<ProcessStats> processes) {
    return counter(
        "heddle_errors",
        "Warnings of the process; heddle errors shows them.",
        processes.stream().map(process -> count(labels(process), warnings(process))));
  }

  private static long warnings(ProcessStats process) {
    return process.errorsLost()
        + process.errors().stream().mapToLong(ProcessStats.DistinctError::count).sum();
  }

  private static MetricSnapshot starts(List<ProcessStats> processes) {
    return gauge(
        "heddle_process_start_time_seconds",
        "Start time of the plugin in the process, in seconds since 1970.",
        processes.stream().map(process -> level(labels(process), process.startMs() / 1e3)));
  }
}
