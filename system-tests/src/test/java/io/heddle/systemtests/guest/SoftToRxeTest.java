package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.systemtests.HeddleRun;
import io.heddle.systemtests.HostProcess;
import io.heddle.systemtests.PerftestMatrix;
import io.heddle.systemtests.guest.TwoEnds.End;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of the soft device against the kernel's rxe. {@code heddle perf} runs in a namespace of
 * this machine. Stock perftest runs with rxe in a guest that has no code of Heddle. A tap device
 * connects them.
 */
@EndsWithin(900)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SystemTest
final class SoftToRxeTest {
  private static final String OURS = "fd00:b::1";
  private static final String THEIRS = "fd00:b::2";

  /* Addresses for perftest's TCP handshake. Debian 12's perftest does it over IPv4 only. */
  private static final String OUR_HANDSHAKE = "192.0.2.1";
  private static final String THEIR_HANDSHAKE = "192.0.2.2";

  private static final int LIMIT_SECONDS = 90;

  /*
   * Option for a longer timeout. The emulated end is slow and shares its cores, so perftest's
   * default of half a second in total is too short.
   */
  private static final String PATIENCE = " -u 18";

  @TempDir private static Path folder;
  private Lab lab;
  private GuestJobs guest;
  private int runs;

  private static final List<String> TESTS =
      List.of("write_bw", "send_bw", "read_bw", "write_lat", "send_lat");
  private static final List<Integer> MTUS = List.of(256, 512, 1024, 2048, 4096);

  @BeforeAll
  void startGuest() throws Exception {
    RxeGuest.assume();
    RxeGuest.assumePrograms("ib_write_bw", "ib_send_lat");
    Skip.unless(Lab.Kind.NAMESPACES);
    lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(1, 1, 1500));
    inNamespace("ip", "link", "delete", LabPlan.interfaceName(0));
    inNamespace("ip", "tuntap", "add", "dev", "tap0", "mode", "tap");
    inNamespace("ip", "link", "set", "tap0", "mtu", "4200", "up");
    inNamespace("ip", "addr", "add", OURS + "/64", "dev", "tap0", "nodad");
    inNamespace("ip", "addr", "add", OUR_HANDSHAKE + "/24", "dev", "tap0");
    guest =
        GuestJobs.start(
            GuestPlan.bare().within(800).behindTap("tap0", lab.command(0, List.of())),
            folder,
            "rxe_on_eth0 " + THEIRS + "/64; ip addr add " + THEIR_HANDSHAKE + "/24 dev eth0");
  }

  @AfterAll
  void endGuest() throws Exception {
    try {
      if (guest != null) {
        guest.close();
      }
    } finally {
      if (lab != null) {
        lab.close();
      }
    }
  }

  private void inNamespace(String... command) throws Exception {
    Path log = folder.resolve("namespace.log");
    try (HostProcess process = HostProcess.start(lab, 0, log, Map.of(), List.of(command))) {
      assertEquals(0, process.exitCode(10), process::outputOrWhyNot);
    }
  }

  private HostProcess ours(String arguments, Map<String, String> environment) throws Exception {
    List<String> words = new ArrayList<>(List.of("perf"));
    words.addAll(List.of((arguments + PATIENCE + " -d soft0").split(" ")));
    Map<String, String> all = new java.util.HashMap<>(environment);
    all.put("HEDDLE_PROVIDER", "soft");
    return HostProcess.start(
        lab,
        0,
        Files.createTempFile(folder, "ours", ".log"),
        all,
        HeddleRun.command(words.toArray(String[]::new)));
  }

  private static String stock(String arguments) {
    /* Without -F, perftest gives up if an emulated processor's clock is uneven. */
    return "ib_" + arguments + PATIENCE + " -F -d rxe0 -x \"$(gid_index rxe0)\"";
  }

  /** Check of both ends' output, after they have ended. */
  private interface OutputCheck {
    void check(End ours, String weSaid, End theirs, String theySaid) throws Exception;
  }

  /** Runs both ends of one test. Asserts that they succeed and print a measurement. */
  private void measure(
      boolean oursIsServer,
      String test,
      int port,
      Map<String, String> environment,
      OutputCheck judge)
      throws Exception {
    String arguments = test + " -p " + port;
    if (oursIsServer) {
      try (HostProcess server = ours(arguments, environment)) {
        server.awaitOutput("Waiting for client to connect", LIMIT_SECONDS);
        try (GuestJobs.Job client = guest.submit(stock(arguments) + " " + OUR_HANDSHAKE)) {
          End ours = End.of("our server", server);
          End theirs = End.of("the stock client", client);
          TwoEnds.assertPass(test, ours, theirs, LIMIT_SECONDS);
          judge.check(ours, server.output(), theirs, client.output());
          return;
        }
      }
    }
    try (GuestJobs.Job server =
        guest.submit(
            stock(arguments)
                + " &\nawait_listener %s $!\necho listening\nwait $!\n".formatted(port))) {
      server.awaitOutput("listening", LIMIT_SECONDS);
      try (HostProcess client = ours(arguments + " " + THEIR_HANDSHAKE, environment)) {
        End ours = End.of("our client", client);
        End theirs = End.of("the stock server", server);
        TwoEnds.assertPass(test, ours, theirs, LIMIT_SECONDS);
        judge.check(ours, client.output(), theirs, server.output());
      }
    }
  }

  private static void requireRow(String test, End ours, String output, End theirs)
      throws Exception {
    String size = test.replaceAll(".* -s (\\d+).*", "$1");
    String mtu = test.replaceAll("(?:.* -m (\\d+))?.*", "$1");
    String row = "(?s).*\\n +" + size + " +\\d+ .*";
    TwoEnds.assertThat("a row of " + size + " bytes", output.matches(row), test, ours, theirs);
    boolean rightMtu = mtu.isEmpty() || output.matches("(?s).*Mtu +: " + mtu + "\\D.*");
    TwoEnds.assertThat("the MTU " + mtu, rightMtu, test, ours, theirs);
  }

  private void measure(boolean oursIsServer, String test, Map<String, String> environment)
      throws Exception {
    measure(
        oursIsServer,
        test,
        18_600 + ++runs,
        environment,
        (ours, output, theirs, theySaid) -> requireRow(test, ours, output, theirs));
  }

  private void measure(boolean oursIsServer, String test) throws Exception {
    measure(oursIsServer, test, Map.of());
  }

  /** Parameters of a run: test, Heddle's role, MTU, and number of queue pairs. */
  record Run(String test, boolean oursIsServer, int mtu, int queuePairs) {
    /*
     * Returns whether this run is in the short set, in which every pair of values of the four
     * properties occurs.
     */
    private boolean isInShortSet() {
      int t = TESTS.indexOf(test);
      int m = MTUS.indexOf(mtu);
      boolean server = (t + m) % 2 == 1;
      boolean four = (t + m / 2) % 2 == 0;
      return oursIsServer == server && (isLatency() || queuePairs == (four ? 4 : 1));
    }

    private boolean isLatency() {
      return test.endsWith("_lat");
    }

    /*
     * Returns the options of perftest. The length of 10,001 bytes is no multiple of 4, so the last
     * packet of each message has padding.
     */
    private String words() {
      return isLatency()
          ? test + " -s 2 -n 100 -m " + mtu
          : "%s -s 10001 -n 40 -q %s -m %s".formatted(test, queuePairs, mtu);
    }
  }

  /**
   * Returns about a quarter of all runs; without {@code -Dheddle.test.whole=true}, only one of
   * these for each of perftest's tests is executed. With {@code -Dheddle.matrix=whole}, returns all
   * eighty runs. With a test's name instead of {@code whole}, returns all runs of that test.
   */
  static Stream<Run> runs() {
    String matrix = System.getProperty("heddle.matrix", "");
    boolean whole = matrix.equals("whole") || TESTS.contains(matrix);
    return TESTS.stream()
        .filter(test -> !TESTS.contains(matrix) || test.equals(matrix))
        .flatMap(test ->
            MTUS.stream()
                .flatMap(mtu ->
                    Stream.of(false, true)
                        .flatMap(server ->
                            (test.endsWith("_lat") ? Stream.of(1) : Stream.of(1, 4))
                                .map(pairs -> new Run(test, server, mtu, pairs)))))
        .filter(run -> whole || run.isInShortSet());
  }

  @ParameterizedTest
  @MethodSource("runs")
  @WholeRunOnly(alwaysRunRows = {1, 7, 13, 19, 25})
  void everyTestPassesInBothRolesAtEveryMtuOnOneAndFourQueuePairs(Run run) throws Exception {
    measure(run.oursIsServer(), run.words());
  }

  /* A test has 501 messages at most, since it takes half a minute in the guest. */
  static Stream<Arguments> matrix() {
    return PerftestMatrix.rows(501);
  }

  @ParameterizedTest
  @MethodSource("matrix")
  @WholeRunOnly(alwaysRunRows = {4, 61})
  void everyOptionWorksInBothRoles(String test, boolean oursIsServer) throws Exception {
    measure(
        oursIsServer,
        test,
        18_600 + ++runs,
        Map.of(),
        (ours, weSaid, theirs, theySaid) -> {
          String client = oursIsServer ? theySaid : weSaid;
          String server = oursIsServer ? weSaid : theySaid;
          List<String> expected = PerftestMatrix.ofServer(client, test);
          boolean alike = expected.equals(PerftestMatrix.measured(server, test));
          TwoEnds.assertThat("the same sizes and messages", alike, test, ours, theirs);
        });
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  @WholeRunOnly(alwaysRunRows = 2)
  void wholeMegabytesPassAsClientAndAsServer(boolean oursIsServer) throws Exception {
    measure(oursIsServer, "write_bw -s 1048576 -n 10");
  }

  @ParameterizedTest
  @CsvSource({
    "false, write_bw",
    "true, write_bw",
    "false, send_bw",
    "true, send_bw",
    "false, read_bw",
    "true, read_bw",
    "false, write_lat",
    "true, send_lat"
  })
  @WholeRunOnly(alwaysRunRows = {2, 5})
  void survivesLossInBothDirections(boolean oursIsServer, String test) throws Exception {
    Map<String, String> faults =
        Map.of("HEDDLE_SOFT_FAULTS", "loss=0.01,send-loss=0.01,seed=" + (runs + 1));
    String size = test.endsWith("_lat") ? " -s 2 -n 200" : " -s 65536 -n 40 -q 2";
    measure(oursIsServer, test + size, faults);
  }

  /*
   * The programs at both ends are Heddle's, one with the soft device and one with rxe. perftest
   * can't replace them, because it uses no immediate data and checks no bytes.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @WholeRunOnly(alwaysRunRows = 2)
  void everyOperationAndLengthIsCorrect(boolean lossy) throws Exception {
    int port = 18_600 + ++runs;
    Map<String, String> faults =
        lossy ? Map.of("HEDDLE_SOFT_FAULTS", "loss=0.02,send-loss=0.02,seed=" + runs) : Map.of();
    try (GuestJobs.Job theirs =
        guest.submit(
            RxeGuest.java(
                List.of(),
                VerbsPeer.class,
                "libibverbs",
                "rxe0",
                THEIRS,
                Integer.toString(port)))) {
      theirs.awaitOutput("waiting", LIMIT_SECONDS);
      try (HostProcess ours =
          HostProcess.start(
              lab,
              0,
              Files.createTempFile(folder, "peer", ".log"),
              faults,
              HostProcess.java(
                  VerbsPeer.class, "soft", "soft0", OURS, Integer.toString(port), THEIRS))) {
        End first = End.of("our peer on soft", ours);
        End second = End.of("our peer on rxe", theirs);
        String what = lossy ? "all operations, with loss" : "all operations";
        TwoEnds.assertPass(what, first, second, LIMIT_SECONDS);
        boolean all = ours.output().contains("all right: 80 messages");
        TwoEnds.assertThat("80 messages checked", all, what, first, second);
      }
    }
  }
}
