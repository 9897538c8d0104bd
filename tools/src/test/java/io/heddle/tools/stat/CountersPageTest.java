package io.heddle.tools.stat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of counters is made of the metrics themselves, so that it can't say anything else. */
class CountersPageTest {
  private static final Path PAGE = Path.of("../docs/counters.md");
  private static final Path MADE = Path.of("target/counters.md");

  @TempDir Path folder;

  @Test
  void pageNamesEveryMetricAsTheExporterServesIt() throws Exception {
    String made;
    try (JobStats job = new JobStats(folder)) {
      made = page();
    }
    Files.writeString(MADE, made);
    String existing = Files.exists(PAGE) ? Files.readString(PAGE) : "";
    assertEquals(made, existing, "to renew the page: cp tools/target/counters.md docs/");
  }

  private String page() {
    StringBuilder page = new StringBuilder("# Counters\n\n");
    page.append(
        """
        Every plugin process keeps its counters in a mapped file. `heddle stat` shows them, `heddle errors` the distinct
        warnings, and `heddle exporter` serves what follows to Prometheus;
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
    return page.toString();
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
