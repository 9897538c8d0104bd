package io.heddle.cli.doctor;

import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.addr.UnusableReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Check of each address: the kernel's flags for it and, unless it is usable, why no plane can have
 * it.
 */
final class AddressesCheck implements Check {
  private static final Cause DUPLICATE =
      new Cause("address-duplicate", "another host has the same address");
  private static final Cause TENTATIVE =
      new Cause("address-tentative", "duplicate address detection hasn't ended, or never ends");
  private static final Cause DEPRECATED =
      new Cause(
          "address-deprecated", "an address's preferred lifetime is over: its router is silent");
  private static final Cause LINK_DOWN =
      new Cause("link-down", "an interface with an address is down or has no carrier");
  private static final Cause ONLY_LINK_LOCAL =
      new Cause(
          "only-link-local",
          "an interface that is up has only a link-local address, which no router forwards");

  @Override
  public String name() {
    return "addresses";
  }

  @Override
  public String summary() {
    return "Every address of every interface, with the kernel's flags.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(DUPLICATE, TENTATIVE, DEPRECATED, LINK_DOWN, ONLY_LINK_LOCAL);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    HostAddresses addresses = host.addresses();
    for (AssignedAddress address : addresses.addresses()) {
      NetworkLink link = addresses.linkOf(address);
      Optional<UnusableReason> why = addresses.reasonUnusable(address);
      String what = "%s on %s%s".formatted(address, link.name(), flags(address));
      if (why.isEmpty()) {
        findings.add(new Finding.Ok(what + ": usable"));
      } else if (!link.loopback()) {
        findings.add(judge(what, why.get(), link));
      }
    }
    for (NetworkLink link : addresses.links()) {
      if (!link.loopback() && !link.isContainerInterface() && link.isUp()) {
        onlyLinkLocal(addresses, link, findings);
      }
    }
    return findings;
  }

  private static String flags(AssignedAddress address) {
    return address.flags().isEmpty()
        ? ""
        : " "
            + address.flags().stream()
                .map(flag -> flag.name().toLowerCase(java.util.Locale.ROOT))
                .sorted()
                .toList();
  }

  private static Finding judge(String what, UnusableReason why, NetworkLink link) {
    String evidence = what + ": " + why.reason();
    return switch (why) {
      case DUPLICATE ->
          new Finding.Fault(
              DUPLICATE,
              evidence,
              "find the other host (ip neigh on a third one); SLAAC from a copied MAC causes this");
      case TENTATIVE ->
          new Finding.Warning(
              TENTATIVE, evidence, "wait a second and run again; else check the link's carrier");
      case DEPRECATED ->
          new Finding.Warning(
              DEPRECATED,
              evidence,
              "check why the router on " + link.name() + " no longer sends advertisements");
      case LINK_DOWN ->
          new Finding.Warning(
              LINK_DOWN,
              evidence,
              "check cable and switch port of " + link.name() + "; ip link set up");
      case LOOPBACK, IPV4, BRIDGE, CONTAINERS, LINK_LOCAL, MULTICAST_OR_UNSPECIFIED, TEMPORARY ->
          new Finding.Ok(evidence);
    };
  }

  private static void onlyLinkLocal(
      HostAddresses addresses, NetworkLink link, List<Finding> findings) {
    List<AssignedAddress> own =
        addresses.addresses().stream()
            .filter(address -> address.interfaceIndex() == link.index())
            .toList();
    if (!own.isEmpty()
        && own.stream().allMatch(address -> address.address().isLinkLocalAddress())) {
      findings.add(
          new Finding.Warning(
              ONLY_LINK_LOCAL,
              link.name() + " has " + own.getFirst() + " and no other address",
              "check that the leaf sends router advertisements with a prefix, and that"
                  + " net.ipv6.conf."
                  + link.name()
                  + ".accept_ra accepts them; or assign an address"));
    }
  }
}
