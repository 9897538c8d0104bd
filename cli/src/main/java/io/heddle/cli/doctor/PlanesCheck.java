package io.heddle.cli.doctor;

import io.heddle.addr.Plane;
import io.heddle.addr.PlaneRules;
import io.heddle.addr.RejectedAddress;
import io.heddle.addr.SharedWires;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Check of the planes that the plugin would find. */
final class PlanesCheck implements Check {
  private static final Cause NONE = new Cause("no-plane", "no address of this host can be a plane");
  private static final Cause SINGLE =
      new Cause(
          "single-plane",
          "there is only one plane: a job fails if its link goes down, even for a moment");
  private static final Cause RULE =
      new Cause(
          "plane-rule-wrong", "HEDDLE_PLANES or an address filter is malformed or matches nothing");
  private static final Cause FEWER =
      new Cause(
          "planes-fewer-than-named", "HEDDLE_PLANES names a plane that this host doesn't have");
  private static final Cause FILTERED =
      new Cause("address-filter", "NCCL_IB_ADDR_RANGE or NCCL_IB_ADDR_FAMILY excludes addresses");
  private static final Cause MTU =
      new Cause("mtu-differs", "planes have different MTUs; all packets use the smallest");
  private static final Cause UNEQUAL =
      new Cause(
          "unequal-planes",
          "planes have different speeds and no weights: with equal shares the slow plane limits"
              + " all");

  private static final Cause ONE_WIRE =
      new Cause(
          "planes-share-a-wire",
          "planes share a wire while others have their own: two subnets of an interface,"
              + " or VLANs or macvlans of one");

  @Override
  public String name() {
    return "planes";
  }

  @Override
  public String summary() {
    return "The planes that the plugin would find, by which rule, and whether they are alike.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(NONE, SINGLE, RULE, FEWER, FILTERED, MTU, UNEQUAL, ONE_WIRE);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    String fault = host.planesFault();
    if (fault != null) {
      return List.of(new Finding.Fault(RULE, fault, "correct the variable, or unset it"));
    }
    for (String remark : host.planes().remarks()) {
      findings.add(new Finding.Warning(RULE, remark, "correct the variable, or unset it"));
    }
    host.planes().rejected().stream()
        .filter(rejected -> rejected.reason().contains("NCCL_IB_ADDR_"))
        .filter(rejected -> !rejected.link().loopback())
        .filter(rejected -> rejected.address().address() instanceof Inet6Address)
        .filter(rejected -> !rejected.address().address().isLinkLocalAddress())
        .filter(rejected -> !isOfIpv4(host.planes().planes()))
        .forEach(rejected ->
            findings.add(
                new Finding.Warning(
                    FILTERED,
                    rejected.toString(),
                    "unset it: planes are distinguished by prefix")));
    List<Plane> planes = host.planes().planes();
    for (Plane plane : planes) {
      findings.add(
          new Finding.Ok(
              "%s: %s on %s, MTU %s: %s"
                  .formatted(
                      plane.key(),
                      plane.address(),
                      plane.link().name(),
                      plane.link().mtuBytes(),
                      plane.reason())));
    }
    named(host, planes, findings);
    judge(host, planes, findings);
    for (SharedWires.Wire wire : SharedWires.of(host.addresses(), planes)) {
      findings.add(
          new Finding.Warning(
              ONE_WIRE,
              wire.describe(),
              "name one address of each wire in HEDDLE_PLANES, or give these planes smaller weights"
                  + " (HEDDLE_WEIGHTS)"));
    }
    return findings;
  }

  /*
   * Warns of planes that HEDDLE_PLANES names and this host lacks. If the host has no plane at all,
   * judge() reports that instead.
   */
  private static void named(Host host, List<Plane> planes, List<Finding> findings) {
    PlaneRules rules = PlaneRules.parse(host.setting("HEDDLE_PLANES"));
    List<String> here = planes.stream().map(Plane::ownKey).toList();
    List<String> missing = rules.keys().stream().filter(key -> !here.contains(key)).toList();
    if (missing.isEmpty() || planes.isEmpty()) {
      return;
    }
    List<String> unused = new ArrayList<>();
    for (RejectedAddress rejected : host.planes().rejected()) {
      if (rules.keyOf(rejected.address(), rejected.link()).filter(missing::contains).isPresent()
          && !rejected.address().address().isLinkLocalAddress()) {
        unused.add(rejected.toString());
      }
    }
    findings.add(
        new Finding.Warning(
            FEWER,
            "HEDDLE_PLANES names planes %s, and this host has no address on %s%s"
                .formatted(
                    rules.keys(),
                    missing,
                    unused.isEmpty() ? "" : " that it can use: " + String.join("; ", unused)),
            "check the ports of these planes (ports, addresses), or correct HEDDLE_PLANES"));
  }

  private static void judge(Host host, List<Plane> planes, List<Finding> findings) {
    if (planes.isEmpty()) {
      findings.add(
          new Finding.Fault(
              NONE,
              host.planes().rejected().size() + " addresses, none usable (see addresses)",
              "assign a global IPv6 address to an interface, or name addresses in HEDDLE_PLANES"));
      return;
    }
    if (planes.size() == 1) {
      findings.add(
          new Finding.Warning(
              SINGLE,
              "only " + planes.getFirst().key(),
              "expected if the fabric has one plane; else check why the others have no address"));
    }
    Set<Integer> mtus = new HashSet<>();
    SortedSet<Long> speeds = new TreeSet<>();
    for (Plane plane : planes) {
      mtus.add(plane.link().mtuBytes());
      if (plane.link().speedBitsPerSecond() > 0) {
        speeds.add(plane.link().speedBitsPerSecond() / 1_000_000);
      }
    }
    if (mtus.size() > 1) {
      findings.add(new Finding.Warning(MTU, "MTUs " + mtus, "give all planes' links the same MTU"));
    }
    Path routes = host.places().routes();
    boolean weighted =
        !host.setting("HEDDLE_WEIGHTS").isEmpty() || routes != null && Files.exists(routes);
    if (speeds.size() > 1 && !weighted) {
      findings.add(
          new Finding.Warning(
              UNEQUAL,
              "links of "
                  + speeds
                  + " Mbit/s, neither HEDDLE_WEIGHTS nor "
                  + (routes == null ? "routes (HEDDLE_ROUTES=none)" : routes),
              "run heddle bgp on this host, or set HEDDLE_WEIGHTS"));
    }
  }

  /*
   * Returns whether all planes have IPv4 addresses. If so, a filter that excludes IPv6 addresses is
   * intended, since IPv4 planes must be configured.
   */
  private static boolean isOfIpv4(List<Plane> planes) {
    return !planes.isEmpty()
        && planes.stream().allMatch(plane -> plane.address().address() instanceof Inet4Address);
  }
}
