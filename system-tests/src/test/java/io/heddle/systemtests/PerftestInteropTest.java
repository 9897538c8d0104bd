package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.TcpPorts;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of {@code heddle perf} against Debian's perftest, both over the stand-in for libibverbs.
 * They cover the handshake and the order of steps, and need neither an RDMA device nor an emulated
 * guest.
 */
@EndsWithin(120)
@SystemTest
final class PerftestInteropTest {
  private static final long LIMIT_SECONDS = 60;
  private static int fabrics;

  @TempDir private Path folder;
  private Path standIn;
  private Path fabric;
  private Lab lab;
  private int port;

  @BeforeEach
  void prepare() throws IOException {
    standIn = BuildOutputs.standin().getParent();
    if (!isOnPath("ib_write_bw")) {
      Skip.because("perftest isn't installed");
    }
    fabric =
        Path.of("/dev/shm", "heddle-interop-" + ProcessHandle.current().pid() + "-" + ++fabrics);
    lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 1, 9000));
    port = TcpPorts.free();
  }

  @AfterEach
  void assertNothingIsLeft() throws IOException {
    if (lab != null) {
      lab.close();
    }
    if (fabric != null) {
      Files.deleteIfExists(fabric);
    }
  }

  private static boolean isOnPath(String program) {
    for (String entry : System.getenv("PATH").split(File.pathSeparator)) {
      if (Files.isExecutable(Path.of(entry, program))) {
        return true;
      }
    }
    return false;
  }

  private HostProcess start(int host, List<String> command) throws IOException {
    return HostProcess.start(
        lab,
        host,
        folder.resolve("host" + host + ".log"),
        Map.of(
            "LD_LIBRARY_PATH", standIn.toString(),
            "STANDIN_FABRIC", fabric.toString(),
            "STANDIN_HOST", Integer.toString(host),
            "HEDDLE_PROVIDER", "libibverbs"),
        command);
  }

  private HostProcess stock(int host, String test, String... server) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(("ib_" + test + " -x 1 -F -p " + port).split(" ")));
    command.addAll(List.of(server));
    return start(host, command);
  }

  private HostProcess ours(int host, String test, String... server) throws IOException {
    List<String> words = new ArrayList<>(List.of("perf"));
    words.addAll(List.of((test + " -x 1 -F -p " + port).split(" ")));
    words.addAll(List.of(server));
    return start(host, HeddleRun.command(words.toArray(String[]::new)));
  }

  /*
   * Repeats a client until perftest's server listens. The server's output doesn't show when it
   * listens, since it isn't flushed.
   */
  private HostProcess awaitOwnServer(String test) throws Exception {
    while (true) {
      HostProcess client = ours(0, test, "127.0.0.1");
      client.exitCode(LIMIT_SECONDS);
      if (!client.output().contains("start the server first")) {
        return client;
      }
      client.close();
    }
  }

  private static String row(HostProcess process, String test) throws IOException {
    String size = test.contains("_lat") ? "2" : "65536";
    return process
        .output()
        .lines()
        .map(String::strip)
        .filter(line -> line.startsWith(size + " "))
        .findFirst()
        .map(line -> line.replaceAll("\\s+", " "))
        .orElseThrow(() -> new AssertionError("no row in\n" + process.outputOrWhyNot()));
  }

  private static void assertSameTest(HostProcess ours, HostProcess stock, String test)
      throws Exception {
    assertEquals(0, ours.exitCode(LIMIT_SECONDS), ours::outputOrWhyNot);
    assertEquals(0, stock.exitCode(LIMIT_SECONDS), stock::outputOrWhyNot);
    String mine = row(ours, test);
    String theirs = row(stock, test);
    assertEquals(theirs.split(" ")[1], mine.split(" ")[1], "iterations");
    if (test.startsWith("write_bw") || test.startsWith("read_bw")) {
      assertEquals(theirs, mine);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "write_bw -n 500",
        "write_bw -n 300 -q 4 --report_gbits",
        "write_bw -n 300 -b",
        "send_bw -n 500",
        "send_bw -n 300 -q 4",
        "read_bw -n 300 -q 4",
        "write_lat -n 500",
        "send_lat -n 500"
      })
  @WholeRunOnly(alwaysRunRows = {1, 8})
  void ourClientMeasuresAgainstPerftestsServer(String test) throws Exception {
    try (HostProcess server = stock(1, test);
        HostProcess client = awaitOwnServer(test)) {
      assertSameTest(client, server, test);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "write_bw -n 500 -q 4",
        "write_bw -n 300 -b",
        "send_bw -n 500",
        "send_bw -n 300 -b",
        "read_bw -n 300",
        "write_lat -n 500",
        "send_lat -n 500"
      })
  @WholeRunOnly(alwaysRunRows = {2, 6})
  void perftestsClientMeasuresAgainstOurServer(String test) throws Exception {
    try (HostProcess server = ours(1, test)) {
      server.awaitOutput("Waiting for client", LIMIT_SECONDS);
      try (HostProcess client = stock(0, test, "127.0.0.1")) {
        assertSameTest(server, client, test);
      }
    }
  }

  static Stream<Arguments> matrix() {
    return PerftestMatrix.rows(20_001);
  }

  /* Both ends must succeed and report the same number of messages. Their rates aren't compared. */
  @ParameterizedTest
  @MethodSource("matrix")
  @WholeRunOnly(alwaysRunRows = {1, 104})
  void everyOptionWorksInBothRoles(String test, boolean oursIsServer) throws Exception {
    try (HostProcess server = oursIsServer ? ours(1, test) : stock(1, test)) {
      if (oursIsServer) {
        server.awaitOutput("Waiting for client", LIMIT_SECONDS);
      }
      try (HostProcess client = oursIsServer ? stock(0, test, "127.0.0.1") : awaitOwnServer(test)) {
        assertEquals(0, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
        assertEquals(0, server.exitCode(LIMIT_SECONDS), server::outputOrWhyNot);
        assertEquals(
            PerftestMatrix.ofServer(client.output(), test),
            PerftestMatrix.measured(server.output(), test),
            "sizes and messages");
      }
    }
  }

  /*
   * Checks some error messages of heddle perf in a process of its own. HeddleCommandTest checks all
   * of them without one.
   */
  @ParameterizedTest
  @CsvSource({
    "write_bw -R, 'rdma_cm is not supported: leave out -R and -z at both ends'",
    "write_bw -c UC, 'only reliable connections (RC) are supported'",
    "write_bw -b --report-both, '-b reports the sum of both directions; leave it out'",
    "read_bw -I 64, '-I applies to sends and writes, not to reads'",
    "write_bw -l 3 -n 100, '-n 100 is no multiple of -l 3'",
    "write_lat -q 2, 'has no option -q'"
  })
  @WholeRunOnly(alwaysRunRows = 1)
  void refusesUnsupportedOptionsWithReason(String test, String reason) throws Exception {
    try (HostProcess refused = ours(1, test)) {
      assertEquals(2, refused.exitCode(LIMIT_SECONDS), refused::outputOrWhyNot);
      assertTrue(refused.output().contains(reason), refused.output());
    }
  }

  /* In a test with a duration, each end stops by its own clock, and then posts no more receives. */
  @Test
  void endsWithPerftestThatFinishesEarlier() throws Exception {
    try (HostProcess server = ours(1, "send_bw -b -D 3")) {
      server.awaitOutput("Waiting for client", LIMIT_SECONDS);
      try (HostProcess client = stock(0, "send_bw -b -D 1", "127.0.0.1")) {
        assertEquals(0, server.exitCode(LIMIT_SECONDS), server::outputOrWhyNot);
        assertEquals(0, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
        row(server, "send_bw");
      }
    }
  }

  /*
   * The server prints the table's heading before the handshake, so the kill may happen before the
   * handshake too. That is also an error of one line.
   */
  @Test
  void killedPerftestIsOneLine() throws Exception {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    String output = outputAfterKilledClient();
    while (output.contains("waited for the start of the run")) {
      assertFalse(deadline.isOver(), output);
      output = outputAfterKilledClient();
    }
    assertTrue(output.contains("in mid-test"), output);
  }

  private String outputAfterKilledClient() throws Exception {
    try (HostProcess server = ours(1, "send_bw -D 60")) {
      server.awaitOutput("Waiting for client", LIMIT_SECONDS);
      try (HostProcess client = stock(0, "send_bw -D 60", "127.0.0.1")) {
        server.awaitOutput("#bytes", LIMIT_SECONDS);
        client.kill();
        assertEquals(1, server.exitCode(LIMIT_SECONDS), server::outputOrWhyNot);
        List<String> output =
            server.output().lines().filter(line -> line.startsWith("heddle:")).toList();
        assertEquals(1, output.size(), server.output());
        return output.getFirst();
      }
    }
  }

  /*
   * Root may lock any amount of memory. Without the capability CAP_IPC_LOCK, the limit applies to
   * root too.
   */
  @Test
  void lowLockedMemoryLimitIsOneLineWithRemedy() throws Exception {
    List<String> limited =
        new ArrayList<>(
            List.of("env", "STANDIN_LOCKED_BYTES=65536", "prlimit", "--memlock=65536:65536"));
    limited.addAll(List.of("setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock"));
    List<String> words = new ArrayList<>(List.of("perf", "write_bw", "-x", "1", "-p", "" + port));
    limited.addAll(HeddleRun.command(words.toArray(String[]::new)));
    try (HostProcess server = start(1, limited)) {
      server.awaitOutput("Waiting for client", LIMIT_SECONDS);
      try (HostProcess client = stock(0, "write_bw", "127.0.0.1")) {
        assertEquals(1, server.exitCode(LIMIT_SECONDS), server::outputOrWhyNot);
        assertEquals(1, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
        List<String> output =
            server.output().lines().filter(line -> line.startsWith("heddle:")).toList();
        assertEquals(1, output.size(), server.output());
        assertTrue(output.getFirst().startsWith("heddle: reg_mr on standin0, "), output.getFirst());
        assertTrue(output.getFirst().contains("ulimit -l"), output.getFirst());
      }
    }
  }
}
