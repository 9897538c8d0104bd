package io.heddle.cli.stat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Checkout;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExporterTest {
  /* Number of bytes at the beginning of a statistics file that include the first communicators. */
  private static final int DAMAGED_BYTES = 94 << 10;
  private static final Pattern METRIC = Pattern.compile("\\bheddle_[a-z_]+");

  @TempDir Path folder;

  private JobStats job;
  private HTTPServer server;

  @BeforeEach
  void begin() throws Exception {
    job = new JobStats(folder);
    server =
        ExporterCommand.start(
            new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), new StatsFolders(folder));
  }

  @AfterEach
  void end() {
    server.close();
    job.close();
  }

  private String scrape() throws Exception {
    return scrape(server);
  }

  private static String scrape(HTTPServer server) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response =
          client.send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:" + server.getPort() + "/metrics"))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertEquals(200, response.statusCode(), response.body());
      return response.body();
    }
  }

  /** Clients that send one byte per second, or none, don't block scrapes for long. */
  @Test
  void slowClientsDoNotBlockScrapes() throws Exception {
    List<Socket> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 40; i++) {
        Socket each = new Socket("127.0.0.1", server.getPort());
        slow.add(each);
        if (i % 2 == 0) {
          each.getOutputStream().write("GET /metrics HT".getBytes(StandardCharsets.US_ASCII));
        }
      }
      assertTrue(scrape().contains("heddle_"));
      /* The clients with an unfinished request are disconnected within 60 s. */
      slow.getFirst().setSoTimeout(60_000);
      assertEquals(-1, slow.getFirst().getInputStream().read());
    } finally {
      for (Socket each : slow) {
        each.close();
      }
    }
  }

  private static double value(String scraped, String series) {
    for (String line : scraped.split("\n", -1)) {
      if (line.startsWith(series + " ")) {
        return Double.parseDouble(line.substring(series.length() + 1));
      }
    }
    throw new AssertionError(series + " is missing in\n" + scraped);
  }

  private static String labels(String plane, String direction) throws IOException {
    return "{direction=\"%s\",namespace=\"%s\",peer=\"%s\",plane=\"%s\",process=\"%s\""
        .formatted(direction, namespace(), JobStats.PEER, plane, ProcessHandle.current().pid());
  }

  private static String namespace() throws IOException {
    return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("\\D", "");
  }

  private Path file() throws IOException {
    return folder.resolve(ProcessHandle.current().pid() + "." + namespace() + ".stats");
  }

  @Test
  void countersAreReadAtEveryScrape() throws Exception {
    String bytes = "heddle_bytes_total" + labels("colour:1", "send") + "}";
    assertEquals(60_005_000, value(scrape(), bytes));
    job.send(0, 95_000, 1_000);
    String scraped = scrape();
    assertEquals(60_100_000, value(scraped, bytes));
    assertEquals(
        5_000, value(scraped, "heddle_in_flight_bytes" + labels("colour:1", "send") + "}"));
    assertEquals(
        3,
        value(
            scraped,
            "heddle_plane_weight" + labels("colour:1", "send") + ",source=\"path bandwidth\"}"));
    String process =
        "namespace=\"" + namespace() + "\",process=\"" + ProcessHandle.current().pid() + "\"}";
    assertEquals(
        7,
        value(
            scraped,
            "heddle_device_events_total{device=\"soft0\",event=\"packets_resent\"," + process));
    assertEquals(2, value(scraped, "heddle_errors_total{" + process));
  }

  @Test
  void completionHistogramCountsEveryRequest() throws Exception {
    String scraped = scrape();
    String flow = labels("colour:1", "send");
    assertEquals(1000, value(scraped, "heddle_completion_seconds_count" + flow + "}"));
    assertEquals(1000 * 20e-6, value(scraped, "heddle_completion_seconds_sum" + flow + "}"), 0.003);
    assertEquals(1000, value(scraped, "heddle_completion_seconds_bucket" + flow + ",le=\"+Inf\"}"));
    Matcher bounds =
        Pattern.compile(
                Pattern.quote("heddle_completion_seconds_bucket" + flow)
                    + ",le=\"([0-9.E-]+)\"} (\\d+)")
            .matcher(scraped);
    int count = 0;
    while (bounds.find()) {
      double bound = Double.parseDouble(bounds.group(1));
      assertEquals(bound > 20e-6 ? 1000 : 0, Integer.parseInt(bounds.group(2)), "below " + bound);
      count++;
    }
    assertEquals(24, count, "bounds, one each doubling");
    assertEquals(
        1,
        value(
            scraped,
            "heddle_chunks_ahead_bucket" + labels("colour:1", "receive") + ",le=\"7.0\"}"));
    assertEquals(
        2,
        value(
            scraped,
            "heddle_chunks_ahead_bucket" + labels("colour:1", "receive") + ",le=\"15.0\"}"));
  }

  @Test
  void everyMetricOfTheDashboardIsServed() throws Exception {
    Set<String> served = new TreeSet<>();
    Matcher matcher = METRIC.matcher(scrape());
    while (matcher.find()) {
      served.add(matcher.group());
    }
    int dashboards = 0;
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(Checkout.path("packaging/grafana"), "*.json")) {
      for (Path file : files) {
        String text = Files.readString(file);
        assertTrue(new ObjectMapper().readTree(text).path("panels").size() > 0, file.toString());
        Set<String> missing = new TreeSet<>();
        Matcher named = METRIC.matcher(text);
        while (named.find()) {
          missing.add(named.group());
        }
        assertFalse(missing.isEmpty(), file + " names no metric");
        missing.removeAll(served);
        assertEquals(Set.of(), missing, file + " names what isn't served");
        dashboards++;
      }
    }
    assertTrue(dashboards > 0);
  }

  @Test
  void unreadableFilesAreCountedAndTheScrapeSucceeds() throws Exception {
    String unreadable = "heddle_unreadable_statistics";
    assertEquals(0, value(scrape(), unreadable));
    Files.writeString(folder.resolve("1.1.stats"), "no statistics");
    assertEquals(1, value(scrape(), unreadable));
    try (HTTPServer early =
        ExporterCommand.start(
            new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0),
            new StatsFolders(folder.resolve("not-made-yet")))) {
      assertEquals(1, value(scrape(early), unreadable));
    }
  }

  /** Process of another PID namespace, which holds the lock of its statistics file. */
  private record Elsewhere(Process holder, Path file) implements AutoCloseable {
    static final String NAMESPACE = "4026599999";

    static Elsewhere copyOf(Path original) throws IOException {
      Path file =
          original.resolveSibling(ProcessHandle.current().pid() + "." + NAMESPACE + ".stats");
      Files.copy(original, file);
      Process holder =
          new ProcessBuilder(
                  "python3",
                  "-c",
                  "import fcntl,sys; f=open(sys.argv[1],'r+'); fcntl.lockf(f,fcntl.LOCK_EX);"
                      + " print('locked',flush=True); sys.stdin.read()",
                  file.toString())
              .start();
      assertEquals("locked", holder.inputReader().readLine());
      return new Elsewhere(holder, file);
    }

    @Override
    public void close() throws IOException, InterruptedException {
      holder.getOutputStream().close();
      holder.waitFor();
    }
  }

  @Test
  void processesOfTwoContainersWithOnePidAreBothServed() throws Exception {
    try (Elsewhere elsewhere = Elsewhere.copyOf(file())) {
      String here = "heddle_bytes_total" + labels("colour:1", "send") + "}";
      String there = here.replace(namespace(), Elsewhere.NAMESPACE);
      String scraped = scrape();
      assertEquals(60_005_000, value(scraped, here));
      assertEquals(60_005_000, value(scraped, there));
      assertEquals(0, value(scraped, "heddle_unreadable_statistics"));
    }
  }

  @Test
  void secondFileOfOneProcessIsSkippedAndCounted() throws Exception {
    Path sharedMemory = Files.createDirectory(folder.resolve("shared-memory"));
    for (String user : List.of("heddle-one", "heddle-other")) {
      Path theirs = Files.createDirectory(sharedMemory.resolve(user));
      Files.copy(file(), theirs.resolve(file().getFileName()));
    }
    try (HTTPServer other =
        ExporterCommand.start(
            new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0),
            StatsFolders.in(sharedMemory))) {
      String scraped = scrape(other);
      assertEquals(
          60_005_000, value(scraped, "heddle_bytes_total" + labels("colour:1", "send") + "}"));
      assertEquals(1, value(scraped, "heddle_unreadable_statistics"));
    }
  }

  /** Damage to the body of one file leaves the time series of other processes unchanged. */
  @Test
  void damagedFileLeavesOthersReadable() throws Exception {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    int unreadable = 0;
    try (Elsewhere damaged = Elsewhere.copyOf(file());
        FileChannel body = FileChannel.open(damaged.file, StandardOpenOption.WRITE)) {
      byte[] original = new byte[DAMAGED_BYTES];
      try (InputStream in = Files.newInputStream(file())) {
        assertEquals(DAMAGED_BYTES, in.readNBytes(original, 0, DAMAGED_BYTES));
      }
      for (int round = 0; round < 200; round++) {
        byte[] bytes = original.clone();
        for (int i = 0; i <= random.nextInt(40); i++) {
          int at = Long.BYTES + random.nextInt(bytes.length - Long.BYTES);
          bytes[at] = (byte) random.nextInt();
        }
        body.write(ByteBuffer.wrap(bytes), 0);
        String scraped = scrape();
        String bytesHere = "heddle_bytes_total" + labels("colour:1", "send") + "}";
        assertEquals(60_005_000, value(scraped, bytesHere), "seed " + seed);
        unreadable += (int) value(scraped, "heddle_unreadable_statistics");
      }
    }
    assertTrue(unreadable > 0, "seed " + seed + ": no round damaged a counter");
  }

  @Test
  void addressInUseIsReported() {
    HeddleException refused =
        assertThrows(
            HeddleException.class,
            () ->
                ExporterCommand.start(
                    new InetSocketAddress("127.0.0.1", server.getPort()),
                    new StatsFolders(folder)));
    assertTrue(refused.getMessage().contains("--listen"), refused.getMessage());
  }
}
