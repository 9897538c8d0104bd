package io.heddle.cli.operate;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.addr.Plane;
import io.heddle.addr.PlaneDiscovery;
import io.heddle.addr.PlaneRules;
import io.heddle.addr.RejectedAddress;
import io.heddle.addr.SharedWires;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.stat.StatsOption;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.routes.Liveness;
import io.heddle.routes.RouteReader;
import io.heddle.routes.RoutesPath;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command {@code heddle planes}: lists this host's planes and, for every other address, the reason
 * why it is unused.
 */
@Command(
    name = "planes",
    description =
        "Lists the planes of this host and, for every other address, the reason why it is unused.",
    mixinStandardHelpOptions = true,
    footer =
        "%nHEDDLE_PLANES, NCCL_IB_ADDR_RANGE and NCCL_IB_ADDR_FAMILY have the same effect as in the"
            + " plugin.",
    exitCodeList = {"0:There is at least one plane.", "1:There is no plane."})
public final class PlanesCommand implements Callable<Integer> {
  private static final String HELD_WEIGHTS =
      "jobs that used it hold its last weights for HEDDLE_ROUTES_HOLD_MS, then all planes have the"
          + " same weight";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Option(
      names = "--peer",
      paramLabel = "ADDRESS",
      description =
          "Instead show the planes to this address, as running jobs use them: both addresses,"
              + " weight and its source, share of the bytes actually sent.")
  private @Nullable String peer;

  @CommandLine.Mixin private final StatsOption stats = new StatsOption();

  @Option(
      names = "--routes",
      paramLabel = "FILE",
      description = "The routes file (default: HEDDLE_ROUTES, else /run/heddle/routes).")
  private @Nullable Path routes;

  /**
   * One plane, as --json shows it.
   *
   * @param key the plane's key on this host
   * @param address address of this host, with its prefix length
   * @param interfaceName interface with the address
   * @param mtuBytes MTU of the interface
   * @param speedBitsPerSecond speed of the interface; 0 if unknown
   * @param reason the rule that made the address a plane
   */
  record PlaneEntry(
      String key,
      String address,
      String interfaceName,
      int mtuBytes,
      long speedBitsPerSecond,
      String reason) {
    static PlaneEntry of(Plane plane) {
      NetworkLink link = plane.link();
      return new PlaneEntry(
          plane.key(),
          plane.address().toString(),
          link.name(),
          link.mtuBytes(),
          link.speedBitsPerSecond(),
          plane.reason());
    }
  }

  /**
   * One address without a plane.
   *
   * @param address the address, with its prefix length
   * @param interfaceName interface with the address
   * @param reason why the address isn't a plane
   */
  record RejectedEntry(String address, String interfaceName, String reason) {
    static RejectedEntry of(RejectedAddress rejected) {
      AssignedAddress address = rejected.address();
      return new RejectedEntry(address.toString(), rejected.link().name(), rejected.reason());
    }
  }

  /**
   * The whole document.
   *
   * @param remarks problems with the rules of HEDDLE_PLANES, problems with the routes file, and
   *     planes that share a wire
   */
  record Document(List<PlaneEntry> planes, List<RejectedEntry> rejected, List<String> remarks) {}

  @Override
  public Integer call() {
    PrintWriter out = java.util.Objects.requireNonNull(spec).commandLine().getOut();
    if (peer != null) {
      return showPeer(peer, out);
    }
    PlaneRules rules = PlaneRules.parse(System.getenv("HEDDLE_PLANES"));
    AddressFilter filter =
        AddressFilter.parse(
            System.getenv(AddressFilter.RANGE_VARIABLE),
            System.getenv(AddressFilter.FAMILY_VARIABLE));
    List<String> remarks = new ArrayList<>();
    HostAddresses host = HostAddresses.read();
    PlaneDiscovery.Result found =
        PlaneDiscovery.discover(host, rules, filter, daemonNames(remarks));
    remarks.addAll(found.remarks());
    SharedWires.of(host, found.planes()).forEach(wire -> remarks.add(wire.describe()));
    Document document =
        new Document(
            found.planes().stream().map(PlaneEntry::of).toList(),
            found.rejected().stream().map(RejectedEntry::of).toList(),
            remarks);
    if (json) {
      out.println(Json.of(document));
    } else {
      print(document, out);
    }
    out.flush();
    return document.planes().isEmpty() ? ExitCode.FAILED : 0;
  }

  private int showPeer(String text, PrintWriter out) {
    InetAddress address = AddressText.parse(text);
    if (address == null) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(spec).commandLine(), "--peer " + text + " is no IP address");
    }
    PeerPlanes.Document document = PeerPlanes.read(stats.folders().folders(), address);
    out.print(json ? Json.of(document) + "\n" : PeerPlanes.table(document));
    out.flush();
    return 0;
  }

  /*
   * Returns the route daemon's names of planes, by this host's address on each. An unreadable file
   * gives a remark and no names; a job ignores it too.
   */
  private Map<InetAddress, String> daemonNames(List<String> remarks) {
    Path file =
        routes != null
            ? routes
            : RoutesPath.followed(System.getenv("HEDDLE_ROUTES"), System.getenv("HEDDLE_WEIGHTS"));
    Map<InetAddress, String> keys = Map.of();
    if (file == null) {
      return keys;
    }
    try (RouteReader reader = RouteReader.open(file, NanoClock.SYSTEM)) {
      if (reader != null) {
        keys = RouteReader.keys(reader.planes());
        addSilenceRemark(reader, remarks);
      } else if (!file.equals(RoutesPath.DEFAULT)) {
        remarks.add("there is no routes file " + file + ": weights don't follow routes");
      }
    } catch (HeddleException unreadable) {
      remarks.add(unreadable.getMessage() + "; " + HELD_WEIGHTS);
    }
    return keys;
  }

  private static void addSilenceRemark(RouteReader reader, List<String> remarks) {
    Liveness liveness = reader.liveness();
    if (liveness.state() != Liveness.State.ALIVE) {
      remarks.add(
          "the route daemon (process %s) of %s %s; %s"
              .formatted(
                  liveness.process(),
                  reader.path(),
                  liveness.state() == Liveness.State.ENDED
                      ? "has ended"
                      : "has given no heartbeat for %s s"
                          .formatted(liveness.silenceNs() / 1_000_000_000),
                  HELD_WEIGHTS));
    }
  }

  private static void print(Document document, PrintWriter out) {
    if (document.planes().isEmpty()) {
      out.println("no plane: no address of this host can carry one");
    }
    for (PlaneEntry plane : document.planes()) {
      out.printf(
          "%-16s %-44s %-15s MTU %-6s %s%n",
          plane.key(), plane.address(), plane.interfaceName(), plane.mtuBytes(), plane.reason());
    }
    if (!document.rejected().isEmpty()) {
      out.println();
      out.println("not used:");
    }
    for (RejectedEntry rejected : document.rejected()) {
      out.printf(
          "  %-44s %-15s %s%n", rejected.address(), rejected.interfaceName(), rejected.reason());
    }
    document.remarks().forEach(out::println);
  }
}
