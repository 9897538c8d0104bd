package io.heddle.cli.doctor;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.addr.Egress;
import io.heddle.addr.Plane;
import java.net.Inet4Address;
import java.util.ArrayList;
import java.util.List;

/**
 * Check of planes whose interfaces share a subnet. The host's routes alone would send the packets
 * of all these planes by one interface.
 */
final class SubnetsCheck implements Check {
  private static final Cause REVERSE_PATH =
      new Cause(
          "rp-filter-strict",
          "several IPv4 planes share a subnet, and rp_filter=1 drops packets that arrive on any but"
              + " the first interface: the soft device then follows the routes, which use one"
              + " interface");
  private static final Cause ARP =
      new Cause(
          "arp-flux",
          "several IPv4 planes share a subnet, and each interface answers ARP for the addresses"
              + " of all: peers may send to the wrong interface");

  @Override
  public String name() {
    return "subnets";
  }

  @Override
  public String summary() {
    return "Planes on several interfaces in one subnet: whether each plane's packets can leave and"
        + " enter by its own interface.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(REVERSE_PATH, ARP);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    List<Plane> planes = host.planes().planes();
    List<Plane> seen = new ArrayList<>();
    for (Plane first : planes) {
      List<Plane> together =
          planes.stream()
              .filter(each -> !each.link().loopback())
              .filter(each -> subnet(first).includes(each.address().address()))
              .toList();
      boolean several = together.stream().map(each -> each.link().index()).distinct().count() > 1;
      if (several && !seen.contains(first) && !first.link().loopback()) {
        seen.addAll(together);
        judge(first, together, findings);
      }
    }
    return findings;
  }

  private static AddressPrefix subnet(Plane plane) {
    return plane.address().prefix();
  }

  private static void judge(Plane first, List<Plane> together, List<Finding> findings) {
    String names = String.join(", ", together.stream().map(each -> each.link().name()).toList());
    String what =
        "%s are in the subnet of %s/%s"
            .formatted(
                names, AddressText.of(first.address().address()), first.address().prefixLength());
    findings.add(
        new Finding.Ok(
            what
                + ": the soft device keeps each plane's packets on its interface; other programs'"
                + " packets leave by the first"));
    if (!(first.address().address() instanceof Inet4Address)) {
      return;
    }
    String apart = "; or give each interface its own subnet";
    together.stream()
        .filter(each -> Egress.setting(each.link(), "rp_filter") == 1)
        .forEach(each ->
            findings.add(
                new Finding.Warning(
                    REVERSE_PATH,
                    "%s, and rp_filter of %s is 1".formatted(what, each.link().name()),
                    "sysctl net.ipv4.conf.all.rp_filter=2 on all hosts" + apart)));
    together.stream()
        .filter(each -> Egress.setting(each.link(), "arp_ignore") == 0)
        .forEach(each ->
            findings.add(
                new Finding.Warning(
                    ARP,
                    "%s, and arp_ignore of %s is 0".formatted(what, each.link().name()),
                    "sysctl net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 on all"
                        + " hosts"
                        + apart)));
  }
}
