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

/** The page of counters is made of the metrics themselves, so that it can't say anything else. */
class CountersPageTest {
  private static final Path PAGE = Checkout.path("docs/counters.md");
  private static final Path MADE = Path.of("target/counters.md");

  private static final Map<String, String> EVENTS =
      Map.ofEntries(
          entry(
              "packets_sent",
              "Packets of requests that left, those that were sent again among them; no"
                  + " acknowledgements and no answers to READs."),
          entry("bytes_sent", "Their bytes, with RoCEv2's headers and checksums."),
          entry("packets_resent", "Packets that were sent again."),
          entry(
              "packets_resent_in_vain",
              "Packets that were sent again though the sending before arrived, as far as the sender"
                  + " can tell. A few at the start of a connection show that switches spread the"
                  + " packets of a plane over several links."),
          entry("packets_received", "Packets that came, whatever became of them."),
          entry("timeouts", "Times that nothing was heard for so long that the peer was asked."),
          entry(
              "waits_for_peer",
              "Times that a queue pair was past its retries and went on asking, since its peer was"
                  + " silent on all planes: it is slow."),
          entry(
              "acknowledgements_carried",
              "Acknowledgements that left behind another packet, not alone."),
          entry("packets_bundled", "Small packets that left in one datagram with others."),
          entry(
              "packets_marked",
              "Packets that came with a switch's mark of congestion (ECN). Looked for where"
                  + " `NCCL_IB_TC` allows marks, by either of its two lowest bits. The window"
                  + " follows the link without them."),
          entry(
              "packets_in_fragments",
              "Packets that came in fragments of IP, whatever became of them: they were larger than"
                  + " a link on their way. A fragment whose others never come stays in the kernel"
                  + " (`nstat Ip6ReasmFails`)."),
          entry(
              "congestion_notifications",
              "Congestion notifications (CNP) that came. Standard devices send them; nothing here"
                  + " follows them."),
          entry(
              "trains_lent",
              "Trains of packets, of 32 KiB and more, that the kernel sent from where they were"
                  + " made, without a copy."),
          entry(
              "trains_copied",
              "Such trains that it copied when they were sent for the first time. All of them where"
                  + " the kernel is older than 6.6, or where the way takes none (`heddle doctor`"
                  + " tells); beside lent ones those of small messages."),
          entry("dropped_too_short", "Shorter than RoCEv2's headers."),
          entry("dropped_unknown_opcode", "Of a kind that the device doesn't know."),
          entry(
              "dropped_management",
              "For queue pair 1, by which connection managers talk (MADs): the device has none."),
          entry(
              "dropped_bad_header",
              "With a header of another version, or a refusal without meaning."),
          entry(
              "dropped_wrong_partition",
              "Of another partition (P_Key) than the default one, which is the only one here."),
          entry("dropped_unknown_queue_pair", "For a queue pair that isn't there, or no longer."),
          entry("dropped_wrong_state", "For one that isn't ready yet."),
          entry("dropped_wrong_source", "From another address or port than its peer's."),
          entry(
              "dropped_bad_checksum",
              "With a wrong ICRC: damaged on the way. With the policy `packet` not every one is: a"
                  + " plane that became slow may still hold packets in the sender's own queue when"
                  + " they have come by another plane and what they lay in has a new train. Where"
                  + " one of four planes fell to a hundredth of its rate again and again, that was"
                  + " 1 to 2 of 10,000 packets, and fewer than half as many as the sender sent"
                  + " again. None are of that kind where the sender's `trains_lent` is 0 or with"
                  + " other policies: there look for memory, cables and ports."),
          entry("dropped_bad_length", "Whose length contradicts the headers."),
          entry("dropped_out_of_window", "With a number too far ahead."),
          entry("dropped_out_of_order", "Ahead of their turn where order counts: they come again."),
          entry("dropped_duplicate", "That had come before."),
          entry("dropped_unexpected_response", "That answer nothing that was asked."),
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
    assertEquals(made, existing, "to renew the page: cp cli/stat/target/counters.md docs/");
  }

  private String page() {
    StringBuilder page = new StringBuilder("# Counters\n\n");
    page.append(
        """
        Every plugin process keeps its counters in a mapped file under `/dev/shm/heddle-<user>`, or in its own memory where
        there is no room for one ([failures.md](failures.md)). `heddle stat` shows them, those of a demo's ranks among them,
        `heddle errors` the distinct warnings, and `heddle exporter` serves what follows to Prometheus;
        [`packaging/grafana/heddle.json`](../packaging/grafana/heddle.json) draws it.

        | metric | kind | labels | what it counts |
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

        ## What soft0 counts

        The events of `heddle_device_events_total`, in `heddle stat` under `devices`. A dropped packet had no effect.

        | event | what it counts |
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

  /* As it is served: Prometheus ends a counter's name so. */
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
