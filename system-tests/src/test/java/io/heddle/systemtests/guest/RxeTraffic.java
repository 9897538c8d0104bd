package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.Deadline;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Traffic of two ranks of a program of {@code perf-tests} through the plugin, in a guest of {@link
 * GuestPlan#planes(int, int)}. The test disturbs the planes while the ranks run. The program checks
 * every byte.
 */
final class RxeTraffic implements AutoCloseable {
  static final int PLANES = 4;

  /* Time limit, long enough for an emulated guest on a busy machine. */
  private static final int LIMIT_SECONDS = 300;

  private static final Path PLUGIN =
      RxeGuest.ROOT.resolve("plugin-shim/target/plugin/libnccl-net-heddle.so");
  private static final Path PROGRAMS = RxeGuest.ROOT.resolve("perf-tests/target");
  private static final Pattern SENT = Pattern.compile("(?m)^(\\d) (\\d+) (\\d+)$");

  private final GuestJobs guest;
  private final GuestJobs.Job job;
  private int seen;

  private RxeTraffic(GuestJobs guest, GuestJobs.Job job) {
    this.guest = guest;
    this.job = job;
  }

  /** Skips the test if these programs or the plugin aren't built. */
  static void assume(String... programs) {
    List<Path> parts =
        IntStream.rangeClosed(0, programs.length)
            .mapToObj(i -> i == 0 ? PLUGIN : PROGRAMS.resolve(programs[i - 1]))
            .toList();
    for (Path part : parts) {
      if (!Files.exists(part)) {
        Skip.because(part + " isn't built");
      }
    }
  }

  /*
   * Returns the setting of a rank's planes. Both hosts' interfaces are in one guest, so the setting
   * must name the rank's addresses.
   */
  private static String planesOf(String side, int devices) {
    return IntStream.range(0, PLANES * devices)
        .mapToObj(i -> "fd00:%s:%s:%s::/64=%s".formatted(side, i / PLANES, i % PLANES, i % PLANES))
        .collect(Collectors.joining(","));
  }

  private static String adapters(String side, int devices) {
    return IntStream.range(0, devices)
        .mapToObj(device -> "rxe" + side + device)
        .collect(Collectors.joining(","));
  }

  /**
   * Starts both ranks, each on the first devices of its side. Each rank has only one address for
   * control connections, so that it doesn't try another one while its peer starts slowly.
   */
  static RxeTraffic start(GuestJobs guest, int devices, String program, String arguments)
      throws IOException {
    String rank =
        "NCCL_DEBUG=INFO NCCL_IB_TIMEOUT=17 HEDDLE_CONNECT_TIMEOUT_MS=100000"
            + " HEDDLE_GRACE_MS=100000 HEDDLE_PROVIDER=libibverbs"
            + " \"NCCL_IB_HCA==%s\" NCCL_SOCKET_IFNAME==h%s0 HEDDLE_PLANES=%s '%s' --plugin '%s'"
            + " --rank %d --rendezvous \"$folder\" --until \"$folder/end\" --timeout-seconds 300"
            + " %s";
    String script =
        """
        folder=$(mktemp -d)
        ln -sfn "$folder" /run/traffic
        nice env %s &
        status=0
        nice env %s || status=$?
        wait $! || status=$?
        exit $status
        """
            .formatted(
                String.format(
                    Locale.ROOT,
                    rank,
                    adapters("A", devices),
                    "A",
                    planesOf("a", devices),
                    PROGRAMS.resolve(program),
                    PLUGIN,
                    0,
                    arguments),
                String.format(
                    Locale.ROOT,
                    rank,
                    adapters("B", devices),
                    "B",
                    planesOf("b", devices),
                    PROGRAMS.resolve(program),
                    PLUGIN,
                    1,
                    arguments));
    return new RxeTraffic(guest, guest.submit(script));
  }

  /** Runs a script in the guest while the traffic continues, and returns its output. */
  String guest(String script) throws IOException, InterruptedException {
    seen = job.output().length();
    try (GuestJobs.Job beside = guest.submit(script)) {
      assertEquals(
          0, beside.exitCode(LIMIT_SECONDS), () -> script + ": " + beside.outputOrWhyNot());
      return beside.output();
    }
  }

  /**
   * Waits until the ranks print text that matches the expression. Only output after the last call
   * of {@link #guest} counts.
   */
  void await(String expression) throws IOException, InterruptedException {
    Pattern pattern = Pattern.compile(expression);
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (!pattern.matcher(job.output()).region(seen, job.output().length()).find()) {
      checkAndSleep("\"" + expression + "\" didn't come", deadline);
    }
  }

  private void checkAndSleep(String missed, Deadline deadline)
      throws IOException, InterruptedException {
    OptionalInt status = job.exitCode();
    if (status.isPresent() || deadline.isOver()) {
      String until =
          status.isPresent()
              ? "the ranks ended with " + status.getAsInt()
              : "in " + LIMIT_SECONDS + " s";
      throw new AssertionError(missed + ": " + until + ", and said:\n" + job.output());
    }
    TimeUnit.MILLISECONDS.sleep(100);
  }

  /** Returns the bytes that each side has sent over each plane; row 0 is side A's. */
  long[][] sent() throws IOException, InterruptedException {
    int before = seen;
    Matcher line = SENT.matcher(guest("plane_bytes"));
    seen = before;
    long[][] sent = new long[2][PLANES];
    while (line.find()) {
      int plane = Integer.parseInt(line.group(1));
      sent[0][plane] = Long.parseLong(line.group(2));
      sent[1][plane] = Long.parseLong(line.group(3));
    }
    return sent;
  }

  /** Waits until both sides have sent this many more bytes over each of these planes. */
  void awaitBytes(long bytes, int... planes) throws IOException, InterruptedException {
    long[][] before = sent();
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    for (int plane : planes) {
      for (long[][] now = sent();
          now[0][plane] - before[0][plane] < bytes || now[1][plane] - before[1][plane] < bytes;
          now = sent()) {
        checkAndSleep(
            "plane " + plane + " doesn't carry " + bytes + " bytes in both directions", deadline);
      }
    }
  }

  /** Ends both ranks and returns their output. Asserts that they found every byte right. */
  String end() throws IOException, InterruptedException {
    guest("touch /run/traffic/end");
    int status = job.exitCode(LIMIT_SECONDS);
    assertEquals(0, status, job::outputOrWhyNot);
    return job.output();
  }

  @Override
  public void close() throws IOException {
    job.close();
  }
}
