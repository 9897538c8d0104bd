package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.GuestPorts;
import io.heddle.tools.switching.LabSwitches;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Contestant with standard peers: two of the kernel's RDMA devices, one behind each leaf, over
 * which stock perftest sends. Both devices are in one emulated guest. The guest is slow, so the
 * links are shaped to less than the guest can send.
 */
final class RxeContestant implements SwitchedTraffic {
  private static final int QUEUE_PAIRS = 8;
  private static final int MESSAGE_BYTES = 32_768;

  /**
   * Number of messages in flight for each queue pair. They keep a link busy while an emulated
   * processor pauses. They also fit into the queue of a slow link, even if three queue pairs share
   * the link.
   */
  private static final int OUTSTANDING = 3;

  /**
   * Exponent of the retry timeout. The timeout is 4.3 s, since an emulated device may pause for
   * long.
   */
  private static final int RETRY_EXPONENT = 20;

  /** Seconds before and after a measurement that perftest doesn't count. */
  private static final int MARGIN_SECONDS = 1;

  /** MTU of the links in bytes: a path MTU of 4096 and headers. */
  private static final int MTU_BYTES = 4_200;

  /**
   * Share of the payload in a middle packet of a message: 4,096 B of payload, and headers of
   * Ethernet, IPv6, UDP, BTH and ICRC.
   */
  private static final double PAYLOAD_SHARE = 4096.0 / (4096 + 14 + 40 + 8 + 12 + 4);

  private static final String CLIENT = "rxe0";
  private static final String SERVER = "rxe1";
  private static final Pattern COUNTER = Pattern.compile("(?m)^(\\S+) (\\S+) ([0-9]+)$");

  private final Cleanup cleanup = new Cleanup();
  private final EmulatedGuest guest;
  private final int milliseconds;
  private String queuePairs = "";

  /**
   * Starts the guest, with a port at each of two leaves and an RDMA device on each port.
   *
   * @param milliseconds duration of a measurement, ms, rounded down to whole seconds
   * @param limitSeconds seconds after which the guest is ended
   */
  RxeContestant(Fabric fabric, LabSwitches switching, int milliseconds, long limitSeconds)
      throws IOException, InterruptedException {
    this.milliseconds = milliseconds;
    try {
      Path folder = cleanup.add(new RunFolder()).path();
      GuestPorts ports = GuestPorts.up(fabric, switching, MTU_BYTES);
      List<String> taps = new ArrayList<>();
      StringBuilder setUp = new StringBuilder("load_rdma\n");
      for (int leaf = 1; leaf <= 2; leaf++) {
        taps.add(GuestPorts.tap(leaf));
        setUp.append(
            String.format(
                Locale.ROOT,
                "add_uplink %s %s %s %s%n",
                leaf - 1,
                GuestPorts.address(leaf),
                GuestPorts.gateway(leaf),
                GuestPorts.gatewayMacAddress(leaf)));
      }
      setUp.append("local_rule_last | ip -6 -batch -\n");
      guest =
          cleanup.add(
              EmulatedGuest.start(ports::command, taps, setUp.toString(), folder, limitSeconds));
    } catch (IOException | InterruptedException | RuntimeException failed) {
      cleanup.close();
      throw failed;
    }
  }

  /** Returns the reason why this machine can't run the contestant; empty if it can. */
  static Optional<String> refusal() throws IOException, InterruptedException {
    boolean stock =
        Stream.of("/usr/bin", "/usr/local/bin")
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "ib_write_bw")));
    return stock
        ? EmulatedGuest.refusal()
        : Optional.of("missing: ib_write_bw; install with: apt-get install perftest");
  }

  @Override
  public double payloadShare() {
    return PAYLOAD_SHARE;
  }

  private String stock(String device, String peer) {
    return String.format(
        Locale.ROOT,
        "ib_write_bw -F -d %s -x \"$(global_gid_index %s)\" -m 4096 -q %s -s %s -t %s -u %s -D"
            + " %s -f %s --report_gbits %s",
        device,
        device,
        QUEUE_PAIRS,
        MESSAGE_BYTES,
        OUTSTANDING,
        RETRY_EXPONENT,
        Math.max(1, milliseconds / 1_000) + 2 * MARGIN_SECONDS,
        MARGIN_SECONDS,
        peer);
  }

  private String script() {
    return String.format(
        Locale.ROOT,
        """
        recreate_rxe 0 1
        %s >/tmp/server 2>&1 &
        await_listener 18515 $! || { cat /tmp/server; exit 1; }
        %s
        wait $! || { cat /tmp/server; exit 1; }
        for device in %s %s; do
          counters $device | sed "s/^/$device /"
        done
        """,
        stock(SERVER, ""),
        stock(CLIENT, "127.0.0.1"),
        CLIENT,
        SERVER);
  }

  /*
   * Runs perftest once, which verifies that the devices reach each other, and records its queue
   * pairs.
   */
  @Override
  public void awaitWarm() throws InterruptedException {
    try {
      queuePairs = queuePairs(guest.run(script()));
    } catch (IOException failed) {
      throw new HeddleException("can't read the guest's files: " + failed, failed);
    }
  }

  @Override
  public void awaitEnd() {
    /* Nothing to wait for, since nothing runs between measurements. */
  }

  @Override
  public Sample sample() throws IOException, InterruptedException {
    String said = guest.run(script());
    /*
     * Other queue pairs would have other source ports and so other hash values, and measurements
     * couldn't be compared.
     */
    if (!queuePairs(said).equals(queuePairs)) {
      throw new HeddleException(
          "the guest's queue pairs changed from " + queuePairs + " to " + queuePairs(said));
    }
    return new Sample(
        goodputGbps(said),
        Double.NaN,
        counter(said, SERVER, "duplicate_request") / counter(said, CLIENT, "sent_pkts"));
  }

  /** Returns the queue pair numbers of both ends in perftest's output. */
  static String queuePairs(String said) {
    StringBuilder numbers = new StringBuilder();
    Matcher found = Pattern.compile("QPN (0x[0-9a-f]+)").matcher(said);
    while (found.find()) {
      numbers.append(numbers.isEmpty() ? "" : " ").append(found.group(1));
    }
    if (numbers.isEmpty()) {
      throw new HeddleException("no queue pair in the output of perftest: " + said);
    }
    return numbers.toString();
  }

  /**
   * Returns the average bandwidth from perftest's row, whose columns are size, iterations, peak,
   * average and messages.
   */
  static double goodputGbps(String said) {
    Matcher row =
        Pattern.compile("(?m)^ *" + MESSAGE_BYTES + " +[0-9]+ +[0-9.]+ +([0-9.]+) +[0-9.]+ *$")
            .matcher(said);
    if (!row.find()) {
      throw new HeddleException(
          "no row of " + MESSAGE_BYTES + " B in the output of perftest: " + said);
    }
    return Double.parseDouble(row.group(1));
  }

  /** Returns the value of a device's counter. Counters that are zero aren't in the output. */
  static double counter(String said, String device, String name) {
    Matcher found = COUNTER.matcher(said);
    while (found.find()) {
      if (found.group(1).equals(device) && found.group(2).equals(name)) {
        return Double.parseDouble(found.group(3));
      }
    }
    return 0;
  }

  @Override
  public void close() {
    cleanup.close();
  }
}
