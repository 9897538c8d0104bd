package io.heddle.tools.stat;

import io.heddle.transport.stats.Latencies;
import io.heddle.transport.stats.ProcessStats;
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
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** The statistics of all processes as Prometheus' metrics, read at each scrape. */
final class Metrics implements MultiCollector {
  private static final double NANO = 1e-9;

  /* A bound in Prometheus for each doubling here: eight times fewer series, percentiles within a factor of two. */
  private static final int BUCKETS_A_BOUND = 8;

  private final StatsFolders folders;

  Metrics(StatsFolders folders) {
    this.folders = folders;
  }

  private record FlowCounter(
      String name, String help, Predicate<Flow> where, ToDoubleFunction<Flow> value) {}

  private static final List<FlowCounter> COUNTERS =
      List.of(
          new FlowCounter(
              "heddle_bytes", "Message bytes sent or received.", flow -> true, Flow::bytes),
          new FlowCounter("heddle_chunks", "Chunks sent or received.", flow -> true, Flow::chunks),
          new FlowCounter(
              "heddle_messages",
              "Messages, counted on a communicator's first plane.",
              flow -> true,
              Flow::messages),
          new FlowCounter(
              "heddle_would_block",
              "Calls answered with \"call again\", counted on a communicator's first plane.",
              flow -> true,
              Flow::wouldBlock),
          new FlowCounter(
              "heddle_resent_packets",
              "Packets that the device sent again, where it tells.",
              flow -> true,
              Flow::resentPackets),
          new FlowCounter(
              "heddle_duplicate_chunks",
              "Chunks that had arrived before.",
              flow -> !flow.isSend(),
              Flow::duplicates),
          new FlowCounter(
              "heddle_failovers",
              "Times that a communicator went on without the plane.",
              flow -> true,
              Flow::failovers),
          new FlowCounter(
              "heddle_moved_chunks",
              "Chunks that went over another plane after this one failed.",
              Flow::isSend,
              Flow::movedChunks),
          new FlowCounter(
              "heddle_moved_bytes", "Bytes of the moved chunks.", Flow::isSend, Flow::movedBytes));

  private static final List<FlowCounter> GAUGES =
      List.of(
          new FlowCounter(
              "heddle_in_flight_bytes",
              "Bytes that the peer's device hasn't acknowledged.",
              Flow::isSend,
              Flow::inFlightBytes),
          new FlowCounter(
              "heddle_communicators",
              "Open communicators on the plane.",
              flow -> true,
              Flow::communicators));

  @Override
  public MetricSnapshots collect() {
    List<ProcessStats> processes = folders.read(null).processes();
    List<Flow> flows = new ArrayList<>();
    processes.forEach(process -> flows.addAll(Flow.of(process)));
    List<MetricSnapshot> all = new ArrayList<>();
    COUNTERS.forEach(counter -> all.add(counter(counter, flows)));
    GAUGES.forEach(gauge -> all.add(gauge(gauge, flows)));
    all.add(weights(flows));
    all.add(weightAges(flows));
    all.add(completions(flows));
    all.add(reordering(flows));
    all.add(devices(processes));
    all.add(errors(processes));
    all.add(starts(processes));
    return new MetricSnapshots(all);
  }

  private static Labels labels(Flow flow) {
    return Labels.of(
        "process",
        Long.toString(flow.key().processId()),
        "peer",
        flow.key().peer(),
        "plane",
        flow.key().plane(),
        "direction",
        flow.isSend() ? "send" : "receive");
  }

  private static MetricSnapshot counter(FlowCounter counter, List<Flow> flows) {
    CounterSnapshot.Builder builder =
        CounterSnapshot.builder().name(counter.name).help(counter.help);
    flows.stream()
        .filter(counter.where)
        .forEach(flow ->
            builder.dataPoint(
                CounterDataPointSnapshot.builder()
                    .labels(labels(flow))
                    .value(counter.value.applyAsDouble(flow))
                    .build()));
    return builder.build();
  }

  private static MetricSnapshot gauge(FlowCounter gauge, List<Flow> flows) {
    GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(gauge.name).help(gauge.help);
    flows.stream()
        .filter(gauge.where)
        .forEach(flow -> builder.dataPoint(point(labels(flow), gauge.value.applyAsDouble(flow))));
    return builder.build();
  }

  private static GaugeDataPointSnapshot point(Labels labels, double value) {
    return GaugeDataPointSnapshot.builder().labels(labels).value(value).build();
  }

  private static MetricSnapshot weights(List<Flow> flows) {
    GaugeSnapshot.Builder builder =
        GaugeSnapshot.builder()
            .name("heddle_plane_weight")
            .help("What the plane is asked to carry, and who says so.");
    flows.forEach(flow ->
        builder.dataPoint(point(labels(flow).add("source", flow.weightSource()), flow.weight())));
    return builder.build();
  }

  private static MetricSnapshot weightAges(List<Flow> flows) {
    GaugeSnapshot.Builder builder =
        GaugeSnapshot.builder()
            .name("heddle_plane_weight_since_seconds")
            .help("When the weight became what it is, in seconds since 1970.");
    flows.forEach(flow -> builder.dataPoint(point(labels(flow), flow.weightSinceMs() / 1e3)));
    return builder.build();
  }

  private static MetricSnapshot completions(List<Flow> flows) {
    HistogramSnapshot.Builder builder =
        HistogramSnapshot.builder()
            .name("heddle_completion_seconds")
            .help("From a work request's post to its acknowledgement.");
    for (Flow flow : flows) {
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
      builder.dataPoint(histogram(flow, buckets, flow.latencies().sumNs() * NANO));
    }
    return builder.build();
  }

  private static HistogramDataPointSnapshot histogram(
      Flow flow, ClassicHistogramBuckets.Builder buckets, double sum) {
    HistogramDataPointSnapshot.Builder point = HistogramDataPointSnapshot.builder();
    point.labels(labels(flow));
    point.classicHistogramBuckets(buckets.build());
    point.sum(sum);
    return point.build();
  }

  private static MetricSnapshot reordering(List<Flow> flows) {
    HistogramSnapshot.Builder builder =
        HistogramSnapshot.builder()
            .name("heddle_chunks_ahead")
            .help("How many chunks ahead of its message's first missing one a chunk arrived.");
    for (Flow flow : flows) {
      if (!flow.isSend()) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        double sum = 0;
        for (int i = 0; i < flow.reordering().length; i++) {
          buckets.bucket((1 << i) - 1, flow.reordering()[i]);
          sum += flow.reordering()[i] * ((1 << i) - 1) * 0.75;
        }
        buckets.bucket(Double.POSITIVE_INFINITY, 0);
        builder.dataPoint(histogram(flow, buckets, sum));
      }
    }
    return builder.build();
  }

  private static MetricSnapshot devices(List<ProcessStats> processes) {
    CounterSnapshot.Builder builder =
        CounterSnapshot.builder()
            .name("heddle_device_events")
            .help("What a device counts by itself: packets, bytes, timeouts, drops by reason.");
    for (ProcessStats process : processes) {
      process
          .deviceCounters()
          .forEach((name, value) -> {
            int slash = name.indexOf('/');
            builder.dataPoint(
                CounterDataPointSnapshot.builder()
                    .labels(
                        labels(process)
                            .add("device", name.substring(0, Math.max(slash, 0)))
                            .add("event", name.substring(slash + 1)))
                    .value(value)
                    .build());
          });
    }
    return builder.build();
  }

  private static Labels labels(ProcessStats process) {
    return Labels.of("process", Long.toString(process.processId()));
  }

  private static MetricSnapshot errors(List<ProcessStats> processes) {
    CounterSnapshot.Builder builder =
        CounterSnapshot.builder()
            .name("heddle_errors")
            .help("Warnings of the process; heddle errors shows their sentences.");
    for (ProcessStats process : processes) {
      long sum = process.errorsLost();
      for (ProcessStats.DistinctError error : process.errors()) {
        sum += error.count();
      }
      builder.dataPoint(
          CounterDataPointSnapshot.builder().labels(labels(process)).value(sum).build());
    }
    return builder.build();
  }

  private static MetricSnapshot starts(List<ProcessStats> processes) {
    GaugeSnapshot.Builder builder =
        GaugeSnapshot.builder()
            .name("heddle_process_start_time_seconds")
            .help("When the plugin started in the process, in seconds since 1970.");
    processes.forEach(
        process -> builder.dataPoint(point(labels(process), process.startMs() / 1e3)));
    return builder.build();
  }
}
