package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.Checkout;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of the dashboard for Grafana with a real job: Prometheus scrapes the exporter, and promtool
 * evaluates each of the dashboard's queries.
 */
@EndsWithin(240)
@SystemTest
final class DashboardTest {
  private static final Path DASHBOARD = Checkout.path("packaging/grafana/heddle.json");
  private static final Pattern SERVED = Pattern.compile("serving http://(127\\.0\\.0\\.1:[0-9]+)");
  private static final Pattern LISTENS =
      Pattern.compile("Listening on\"? address=(127\\.0\\.0\\.1:[0-9]+)");
  private static final Pattern LABELS = Pattern.compile("label_values\\(([a-z_]+), ([a-z_]+)\\)");
  private static final List<String> PLANES = List.of("if:e1", "if:e2", "if:e3");
  private static final long LIMIT_SECONDS = 60;

  @TempDir private Path folder;

  @BeforeEach
  void requirePrometheus() throws Exception {
    for (String tool : List.of("prometheus", "promtool")) {
      if (Stream.of(System.getenv("PATH").split(":"))
          .noneMatch(each -> Files.isExecutable(Path.of(each, tool)))) {
        Skip.because("no " + tool + " here: apt-get install prometheus");
      }
    }
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  @Test
  void everyDashboardQueryHasAnAnswer() throws Exception {
    try (BusyDemo demo = BusyDemo.start(Files.createDirectory(folder.resolve("demo")));
        HostProcess exporter =
            HostProcess.start(
                HeddleRun.command(
                    "exporter",
                    "--listen",
                    "127.0.0.1:0",
                    "--stats",
                    demo.statisticsFolder().toString()),
                folder.resolve("exporter.log"),
                Map.of())) {
      String target = awaitAddress(exporter, SERVED);
      try (HostProcess prometheus = prometheus(target)) {
        String server = "http://" + awaitAddress(prometheus, LISTENS);
        /* The rate() of a query needs at least two scrapes. */
        awaitAnswer(server, "min(count_over_time(heddle_bytes_total[1m])) > 2", prometheus);
        assertWellFormed(target);
        JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
        for (JsonNode variable : dashboard.path("templating").path("list")) {
          assertVariable(server, variable.path("query").asText());
        }
        Set<String> questions = new LinkedHashSet<>();
        dashboard.findValuesAsText("expr").forEach(questions::add);
        assertTrue(questions.size() > 10, questions.toString());
        List<String> unanswered = new ArrayList<>();
        for (String question : questions) {
          String answer = answer(server, withVariables(question));
          boolean perPlane = question.contains("(plane") || question.contains(", plane");
          if (answer.isBlank()
              || answer.contains("=> NaN")
              || perPlane && !PLANES.stream().allMatch(plane -> names(answer, plane))) {
            unanswered.add(question + "\n" + answer);
          }
        }
        assertEquals(List.of(), unanswered, "questions without a whole answer");
      }
      demo.process().terminate();
    }
  }

  private static boolean names(String answer, String plane) {
    return answer.contains("plane=\"" + plane + "\"");
  }

  /* Returns a query with Grafana's variables filled in. */
  private static String withVariables(String question) {
    return question
        .replace("$instance", ".*")
        .replace("$plane", ".*")
        .replace("$__rate_interval", "1m");
  }

  private HostProcess prometheus(String target) throws IOException {
    Path config =
        Files.writeString(
            folder.resolve("prometheus.yml"),
            """
            global:
              scrape_interval: 500ms
              scrape_timeout: 500ms
            scrape_configs:
              - job_name: heddle
                static_configs:
                  - targets: ['%s']
            """
                .formatted(target));
    return HostProcess.start(
        List.of(
            "prometheus",
            "--config.file=" + config,
            "--storage.tsdb.path=" + folder.resolve("data"),
            "--web.listen-address=127.0.0.1:0"),
        folder.resolve("prometheus.log"),
        Map.of());
  }

  private static String awaitAddress(HostProcess process, Pattern pattern)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (!deadline.isOver() && process.isAlive()) {
      Matcher matcher = pattern.matcher(process.output());
      if (matcher.find()) {
        return matcher.group(1);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    throw new AssertionError("no " + pattern + ": " + process.outputOrWhyNot());
  }

  private static void awaitAnswer(String server, String question, HostProcess prometheus)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (answer(server, question).isBlank()) {
      assertFalse(deadline.isOver(), prometheus::outputOrWhyNot);
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private static String answer(String server, String question)
      throws IOException, InterruptedException {
    return BareRoot.run(List.of("promtool", "query", "instant", server, question));
  }

  /* Checks the query that fills one of the dashboard's variables, the boxes above the panels. */
  private static void assertVariable(String server, String query)
      throws IOException, InterruptedException {
    Matcher matcher = LABELS.matcher(query);
    if (matcher.matches()) {
      String question = "count by (" + matcher.group(2) + ") (" + matcher.group(1) + ")";
      assertTrue(answer(server, question).contains(matcher.group(2) + "=\""), query);
    } else {
      assertEquals("prometheus", query, "neither a data source nor the values of a label");
    }
  }

  /* Checks the exporter's output with promtool. */
  private void assertWellFormed(String target) throws IOException, InterruptedException {
    String scrape;
    try (HttpClient client = HttpClient.newHttpClient()) {
      scrape =
          client
              .send(
                  HttpRequest.newBuilder(URI.create("http://" + target + "/metrics")).build(),
                  HttpResponse.BodyHandlers.ofString())
              .body();
    }
    Path file = Files.writeString(folder.resolve("scrape"), scrape);
    Process check =
        new ProcessBuilder("promtool", "check", "metrics")
            .redirectInput(file.toFile())
            .redirectErrorStream(true)
            .start();
    String output =
        new String(check.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertEquals(0, check.waitFor(), output);
  }
}
