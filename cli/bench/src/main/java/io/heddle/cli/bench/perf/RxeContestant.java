package io.heddle.cli.bench.perf;

import io.heddle.cli.job.RunFolder;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.lab.Fabric;
import io.heddle.cli.lab.GuestPorts;
import io.heddle.platform.HeddleException;
import io.heddle.switching.LabSwitches;
import io.heddle.switching.LinkCount;
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
 * Standard peers: two of the kernel's own RDMA devices, one behind each leaf, and stock perftest
 * over them. Both are in one emulated guest. That is slow, so the links are slower still.
 */
final class RxeContestant implements SwitchedTraffic {
  private static final int QUEUE_PAIRS = 8;
  private static final int MESSAGE_BYTES = 32_768;

  /**
   * As many messages as keep links busy while an emulated processor stands still, and no more than
   * the queue before a slow link takes, even of three queue pairs.
   */
  private static final int OUTSTANDING = 3;

  /** 4.3 s: an emulated end may be away for long. */
  private static final int RETRY_EXPONENT = 20;

  /** Not counted, before and after what is. */
  private static final int MARGIN_SECONDS = 1;

  /** For a path MTU of 4096, with room for headers. */
  private static final int MTU_BYTES = 4_200;

  /** Ethernet, IPv6, UDP, BTH and ICRC, beside the 4,096 B of a packet in the middle. */
  private static final double PAYLOAD_SHARE = 4096.0 / (4096 + 14 + 40 + 8 + 12 + 4);

  private static final String CLIENT = "rxe0";
  private static final String SERVER = "rxe1";
  private static final Pattern COUNTER = Pattern.compile("(?m)^(\\S+) (\\S+) ([0-9]+)$");

  private final Cleanup cleanup = new Cleanup();
  private final EmulatedGuest guest;
  private final double rateGbps;
  private final int milliseconds;
  private String queuePairs = "";

  /**
   * Makes the guest, a port for it at either leaf, and its devices.
   *
   * @param rateGbps of a link while it is measured
   * @param milliseconds how long a measurement lasts, cut to whole seconds
   * @param limitSeconds after which the guest ends
   */
  RxeContestant(
      Fabric fabric, LabSwitches switching, double rateGbps, int milliseconds, long limitSeconds)
      throws IOException, InterruptedException {
    this.rateGbps = rateGbps;
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
                "way_out %s %s %s %s%n",
                leaf - 1,
                GuestPorts.address(leaf),
                GuestPorts.gateway(leaf),
                GuestPorts.gatewaysMacAddress(leaf)));
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

  /** Why there is none of it here. */
  static Optional<String> refusal() throws IOException, InterruptedException {
    boolean stock =
        Stream.of("/usr/bin", "/usr/local/bin")
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "ib_write_bw")));
    return stock
        ? EmulatedGuest.refusal()
        : Optional.of("missing: ib_write_bw; install with: apt-get install perftest");
  }

  @Override
  public double rateGbps() {
    return rateGbps;
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
        rxe_anew 0 1
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

  /* One run finds out whether its devices talk, and which queue pairs a run has. */
  @Override
  public void awaitWarm() throws InterruptedException {
    try {
      queuePairs = queuePairs(guest.run(script()));
    } catch (IOException failed) {
      throw new HeddleException("the guest's files can't be read: " + failed, failed);
    }
  }

  @Override
  public void awaitEnd() {
    /* Nothing of it runs between measurements. */
  }

  @Override
  public Sample sample(PluginPerfPlan.Step step, LabSwitches switching)
      throws IOException, InterruptedException {
    List<LinkCount> before = switching.counts();
    String said = guest.run(script());
    List<LinkCount> after = switching.counts();
    /* Other queue pairs would have other ports, and luck with the hash of its own. */
    if (!queuePairs(said).equals(queuePairs)) {
      throw new HeddleException(
          "the guest's queue pairs were " + queuePairs + " and are " + queuePairs(said) + " now");
    }
    return new Sample(
        goodputGbps(said),
        Double.NaN,
        counter(said, SERVER, "duplicate_request") / counter(said, CLIENT, "sent_pkts"),
        SwitchedTraffic.marked(before, after));
  }

  /** Numbers of the queue pairs that perftest says it has, at either end. */
  static String queuePairs(String said) {
    StringBuilder numbers = new StringBuilder();
    Matcher found = Pattern.compile("QPN (0x[0-9a-f]+)").matcher(said);
    while (found.find()) {
      numbers.append(numbers.isEmpty() ? "" : " ").append(found.group(1));
    }
    if (numbers.isEmpty()) {
      throw new HeddleException("perftest names no queue pair: " + said);
    }
    return numbers.toString();
  }

  /** The average of perftest's one row: size, iterations, peak, average, messages. */
  static double goodputGbps(String said) {
    Matcher row =
        Pattern.compile("(?m)^ *" + MESSAGE_BYTES + " +[0-9]+ +[0-9.]+ +([0-9.]+) +[0-9.]+ *$")
            .matcher(said);
    if (!row.find()) {
      throw new HeddleException("perftest prints no row of " + MESSAGE_BYTES + " B: " + said);
    }
    return Double.parseDouble(row.group(1));
  }

  /** One of a device's counters; those that are 0 aren't printed. */
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
