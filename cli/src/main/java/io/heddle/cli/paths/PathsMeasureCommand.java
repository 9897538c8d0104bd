package io.heddle.cli.paths;

import io.heddle.cli.kit.AtomicFile;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.fabric.model.LinearFit;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Ipv6Text;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command that measures the routers on the path to a peer for each source port. */
@Command(
    name = "measure",
    description = {
      "Sends probes to UDP port 4791 of a peer with rising hop limits, from many source ports, and"
          + " groups the ports by the routers that reply. More ports are added until each router's"
          + " next hops are known with 95 %% confidence.",
      "Needs no root. Routers that don't reply are reported as silent. A running soft device drops"
          + " the probes; the peer needs no program."
    },
    exitCodeList = {
      "0:At least one router replied for each port.",
      "1:No router replied, or the peer can't be reached."
    },
    mixinStandardHelpOptions = true)
public final class PathsMeasureCommand implements Callable<Integer> {
  private static final int FIRST_BASE = 0xc000;
  private static final int BASES = 64;
  private static final int MORE_PORTS = 16;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(paramLabel = "PEER", description = "The peer's IPv6 address on the plane.")
  private String peer = "";

  @Option(
      names = "--ports",
      paramLabel = "N",
      defaultValue = "64",
      description = "Initial number of source ports (${DEFAULT-VALUE}).")
  private int ports;

  @Option(
      names = "--most",
      paramLabel = "N",
      defaultValue = "256",
      description = "Maximum number of source ports for the confidence (${DEFAULT-VALUE}).")
  private int most;

  @Option(
      names = "--only",
      paramLabel = "PORT",
      split = ",",
      description = "Use exactly these source ports.")
  private int @Nullable [] only;

  @Option(
      names = "--from",
      paramLabel = "ADDRESS",
      description = "This host's address (the source address of the route to the peer).")
  private @Nullable String from;

  @Option(
      names = "--hops",
      paramLabel = "N",
      defaultValue = "16",
      description = "The highest hop limit (${DEFAULT-VALUE}).")
  private int hops;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "100",
      description =
          "Maximum number of probes per second (${DEFAULT-VALUE}); reduced if routers reply more"
              + " slowly.")
  private int rate;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the random ports (${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--save",
      paramLabel = "FILE",
      description = "Also write the JSON document to this file, for fit and pick.")
  private @Nullable Path save;

  @Option(names = "--json", description = "Print one JSON document instead of the tables.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    OptionRange range = new OptionRange(spec);
    range.require("--ports", ports, 1, 4096);
    range.require("--most", most, 1, 4096);
    range.require("--hops", hops, 1, 255);
    range.require("--rate", rate, 1, 100_000);
    Inet6Address to = address("PEER", peer);
    Inet6Address own = from == null ? towards(to) : address("--from", from);
    PathsMeasurement found = measure(own, to, range);
    if (found.length() == 0) {
      throw new HeddleException(
          "no reply to the probes from %s to %s: routers may be configured to send no ICMPv6 errors,"
                  .formatted(found.source(), found.destination())
              + " or a firewall drops them");
    }
    if (save != null) {
      AtomicFile.write(save, Json.of(found) + "\n");
    }
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(found) + "\n" : MeasurementText.of(found));
    out.flush();
    boolean all =
        found.ports().stream().allMatch(path -> path.routers().stream().anyMatch(Objects::nonNull));
    return all ? 0 : ExitCode.FAILED;
  }

  private PathsMeasurement measure(Inet6Address own, Inet6Address to, OptionRange range) {
    ProgressLine progress = ProgressLine.onStandardError();
    List<Integer> inUse = new ArrayList<>();
    Random random = new Random(seed);
    try (UdpProber prober = new UdpProber(own, to)) {
      PathTrace trace =
          new PathTrace(
              prober,
              Ipv6Text.of(to.getAddress()),
              hops,
              rate,
              how -> progress.update(() -> "heddle paths measure: " + how));
      int[] exactly = only;
      if (exactly != null) {
        for (int port : exactly) {
          range.require("--only", port, 1, 0xffff);
        }
        trace.trace(opened(prober, Arrays.stream(exactly).boxed().toList(), inUse));
      } else {
        trace.trace(planned(prober, ports, random, inUse));
        while (trace.missingFlows() > 0 && trace.portCount() < most) {
          trace.trace(more(prober, random, Math.min(MORE_PORTS, most - trace.portCount())));
        }
      }
      progress.clear();
      if (trace.portCount() == 0) {
        throw new HeddleException("other programs of this host use all ports: " + inUse);
      }
      return trace.result(Ipv6Text.of(own.getAddress()), inUse);
    }
  }

  /*
   * Opens the ports that a fit needs, and returns them: those that differ from a base port in one
   * bit, and others. Tries several bases until all ports of one are free; otherwise returns the
   * free ports of the last base.
   */
  static List<Integer> planned(UdpProber prober, int ports, Random random, List<Integer> inUse) {
    List<Integer> opened = List.of();
    for (int base = FIRST_BASE; base < FIRST_BASE + BASES; base++) {
      opened.forEach(prober::close);
      inUse.clear();
      opened = opened(prober, LinearFit.plan(base, ports, random), inUse);
      if (inUse.isEmpty()) {
        break;
      }
    }
    return opened;
  }

  private static List<Integer> opened(UdpProber prober, List<Integer> wanted, List<Integer> inUse) {
    List<Integer> opened = new ArrayList<>();
    for (int port : wanted) {
      if (isOpened(prober, port)) {
        opened.add(port);
      } else {
        inUse.add(port);
      }
    }
    return opened;
  }

  private static boolean isOpened(UdpProber prober, int port) {
    try {
      prober.open(port);
      return true;
    } catch (SystemCallException failed) {
      if (failed.errno() == Errno.EADDRINUSE) {
        return false;
      }
      throw failed;
    }
  }

  private static List<Integer> more(UdpProber prober, Random random, int count) {
    TreeSet<Integer> fresh = new TreeSet<>();
    while (fresh.size() < count) {
      int port = FIRST_BASE + random.nextInt(0x10000 - FIRST_BASE);
      if (!prober.ports().contains(port) && isOpened(prober, port)) {
        fresh.add(port);
      }
    }
    return List.copyOf(fresh);
  }

  private Inet6Address address(String what, String text) {
    if (text.matches("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(%.+)?")) {
      try {
        if (InetAddress.getByName(text) instanceof Inet6Address found) {
          return found;
        }
      } catch (UnknownHostException noAddress) {
        /* The text is rejected below. */
      }
    }
    throw new OptionRange(spec).refusal(what + " '" + text + "' is not an IPv6 address");
  }

  private static Inet6Address towards(Inet6Address peer) throws IOException {
    try (DatagramChannel channel = DatagramChannel.open()) {
      channel.connect(new InetSocketAddress(peer, 4791));
      return (Inet6Address) ((InetSocketAddress) channel.getLocalAddress()).getAddress();
    } catch (java.net.SocketException noRoute) {
      throw new HeddleException(
          "there is no route to %s (%s); see ip -6 route get %s"
              .formatted(peer.getHostAddress(), noRoute.getMessage(), peer.getHostAddress()),
          noRoute);
    }
  }
}
