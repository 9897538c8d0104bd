package io.heddle.cli.stat;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.testing.Checkout;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test that docs/counters.md is the page that is generated from the metrics. */
class CountersPageTest {
  private static final Path PAGE = Checkout.path("docs/counters.md");
  private static final Path MADE = Path.of("target/counters.md");

  private static final Map<String, String> EVENTS =
      Map.ofEntries(
          entry(
              "packets_sent",
              "Sent request packets, retransmissions included; without acknowledgements and READ"
                  + " responses."),
          entry("bytes_sent", "Their bytes, with RoCEv2's headers and checksums."),
          entry("packets_resent", "Retransmitted packets."),
          entry(
              "packets_resent_in_vain",
              "Packets retransmitted although the earlier transmission arrived, as far as the"
                  + " sender can tell. A few at the start of a connection show that switches spread"
                  + " the packets of a plane over several links."),
          entry("packets_received", "Received packets, dropped ones included."),
          entry("timeouts", "Times that the retry timer expired and the peer was probed."),
          entry(
              "waits_for_peer",
              "Times that a queue pair exceeded its retries and kept probing, because its peer was"
                  + " silent on all planes and may only be slow."),
          entry(
              "acknowledgements_carried",
              "Acknowledgements sent in one datagram with another packet."),
          entry("packets_bundled", "Small packets sent in one datagram with others."),
          entry(
              "packets_marked",
              "Received packets with a switch's congestion mark (ECN). Read only if"
                  + " `NCCL_IB_TC` permits marks, by either of its two lowest bits. The window"
                  + " doesn't depend on them."),
          entry(
              "packets_in_fragments",
              "Packets received in IP fragments, dropped ones included: they were larger than the"
                  + " MTU of a link on the path. Fragments of an incomplete packet stay in the"
                  + " kernel (`nstat Ip6ReasmFails`)."),
          entry(
              "congestion_notifications",
              "Received congestion notifications (CNP). Standard devices send them; Heddle ignores"
                  + " them."),
          entry(
              "trains_zero_copy",
              "Packet trains of 32 KiB and more that the kernel sent from the process's pages,"
                  + " without a copy."),
          entry(
              "trains_copied",
              "Such trains that it copied at their first transmission. All of them if the kernel is"
                  + " older than 6.6, or if the path supports no zero-copy (see `heddle doctor`);"
                  + " otherwise those of small messages."),
          entry("dropped_too_short", "Shorter than RoCEv2's headers."),
          entry("dropped_unknown_opcode", "With an opcode that the device doesn't know."),
          entry(
              "dropped_management",
              "For queue pair 1, which connection managers use (MADs): the device has none."),
          entry("dropped_bad_header", "With a header of another version, or a malformed NAK."),
          entry(
              "dropped_wrong_partition",
              "Of another partition (P_Key) than the default one, the only one supported."),
          entry("dropped_unknown_queue_pair", "For a queue pair that doesn't exist, or no longer."),
          entry("dropped_wrong_state", "For a queue pair that isn't ready yet."),
          entry("dropped_wrong_source", "From another address or port than its peer's."),
          entry(
              "dropped_bad_checksum",
              "With a wrong ICRC: damaged in transit. With the policy `packet`, some are not: a"
                  + " plane that became slow may still hold packets in the sender's queue after"
                  + " they arrived by another plane and their buffer was reused. With one of four"
                  + " planes falling to a hundredth of its rate repeatedly, that was 1 to 2 of"
                  + " 10,000 packets, and fewer than half as many as were retransmitted. If the"
                  + " sender's `trains_zero_copy` is 0, or with other policies, none are of that"
                  + " kind: then check memory, cables and ports."),
          entry("dropped_bad_length", "Whose length contradicts the headers."),
          entry("dropped_out_of_window", "With a number too far ahead."),
          entry(
              "dropped_out_of_order",
              "Ahead of an expected packet where order counts; they are retransmitted."),
          entry("dropped_duplicate", "Received before."),
          entry("dropped_unexpected_response", "Responses without a matching request."),
          entry("dropped_in_flight_after_error", "For a queue pair that has failed."));

  @TempDir Path folder;

  @Test
  void pageNamesEveryMetricAsTheExporterServesIt() throws Exception {
    String made;
    try (JobStats job = new JobStats(folder)) {
      job.writeAndReadOneSided();
      made = page();
    }
    Files.writeString(MADE, made);
    String existing = Files.exists(PAGE) ? Files.readString(PAGE) : "";
    assertEquals(made, existing, "to renew the page: cp cli/target/counters.md docs/");
  }

  private String page() {
    StringBuilder page = new StringBuilder("# Counters\n\n");
    page.append(
        """
        Every plugin process keeps its counters in a mapped file under `/dev/shm/heddle-<user>`, or in its own memory if
        there is no space for one ([failures.md](failures.md)). `heddle stat` shows them, those of a demo's ranks among them,
        `heddle errors` the distinct warnings. `heddle exporter` serves these metrics to Prometheus, of its user's jobs only, or
        of everybody's with `--all-users`;
        [`packaging/grafana/heddle.json`](../packaging/grafana/heddle.json) draws it.

        | metric | kind | labels | meaning |
        |---|---|---|---|
        """);
    for (MetricSnapshot metric : new Metrics(new StatsFolders(folder)).collect()) {
      page.append(
          "| `%s` | %s | %s | %s |\n"
              .formatted(
                  name(metric), kind(metric), labels(metric), metric.getMetadata().getHelp()));
    }
    page.append(
        """

        ## Counters of soft0

        The events of `heddle_device_events_total`, shown by `heddle stat` under `devices`. A dropped packet had no effect.

        | event | meaning |
        |---|---|
        """);
    List<String> counted = countedBySoftDevice();
    assertEquals(EVENTS.keySet(), new HashSet<>(counted), "each counter has a line here");
    counted.forEach(event -> page.append("| `%s` | %s |\n".formatted(event, EVENTS.get(event))));
    return page.toString();
  }

  private static List<String> countedBySoftDevice() {
    List<String> names = new ArrayList<>();
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      if (provider.name().equals("soft")) {
        RdmaDevice device =
            provider.devices(Map.of(), (level, sentence) -> {}, new LeakLedger()).getFirst();
        try (DeviceContext context = device.open()) {
          context.readCounters((name, value) -> names.add(name));
        }
      }
    }
    return names;
  }

  /* Prometheus appends this suffix to the name of a counter. */
  private static String name(MetricSnapshot metric) {
    String name = metric.getMetadata().getPrometheusName();
    return metric instanceof CounterSnapshot ? name + "_total" : name;
  }

  private static String kind(MetricSnapshot metric) {
    return switch (metric) {
      case CounterSnapshot counter -> "counter";
      case GaugeSnapshot gauge -> "gauge";
      case HistogramSnapshot histogram -> "histogram";
      default -> "other";
    };
  }

  private static String labels(MetricSnapshot metric) {
    if (metric.getDataPoints().isEmpty()) {
      return "";
    }
    Labels labels = metric.getDataPoints().getFirst().getLabels();
    return String.join(", ", labels.stream().map(label -> label.getName()).toList());
  }
}
