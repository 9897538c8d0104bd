package io.heddle.cli.bridge;

import io.heddle.addr.AddressFlag;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.Memberships;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * End of a test in a fabric: an interface of this machine, and its source addresses.
 *
 * @param interfaceName name of the interface in the calling thread's network namespace
 * @param ipv4 source address of IPv4 packets; null for none
 * @param ipv6 source address of IPv6 packets; null for none
 * @param prefixes prefixes of the interface's addresses
 */
record TestEnd(
    String interfaceName, @Nullable Gid ipv4, @Nullable Gid ipv6, List<LoopRules.Prefix> prefixes) {
  private static final int LEAST_PORT = 0xc000;
  private static final int PORTS = 0x4000;
  private static final int PORT_TRIES = 16;

  /**
   * Returns the end with this interface or address.
   *
   * @param text name of an interface, or one of its addresses; an address becomes the end's only
   *     source address
   * @throws IllegalArgumentException if this machine has no such interface or address
   */
  static TestEnd of(String text) {
    HostAddresses host = HostAddresses.read();
    for (NetworkLink link : host.links()) {
      List<AssignedAddress> addresses =
          host.addresses().stream()
              .filter(each -> each.interfaceIndex() == link.index())
              .filter(each -> !each.has(AddressFlag.DUPLICATE) && !each.has(AddressFlag.TENTATIVE))
              /*
               * Link-local addresses come last, since a bridge with configured prefixes rejects
               * such sources as foreign.
               */
              .sorted(Comparator.comparing(each -> each.address().isLinkLocalAddress()))
              .toList();
      List<Gid> own = addresses.stream().map(each -> Gid.of(each.address())).toList();
      List<LoopRules.Prefix> prefixes =
          addresses.stream().map(each -> LoopRules.Prefix.of(each.prefix())).toList();
      if (link.name().equals(text)) {
        return new TestEnd(text, first(own, true), first(own, false), prefixes);
      }
      for (Gid each : own) {
        if (each.toString().equals(text)) {
          boolean ipv4 = each.isIpv4Mapped();
          return new TestEnd(link.name(), ipv4 ? each : null, ipv4 ? null : each, prefixes);
        }
      }
    }
    throw new IllegalArgumentException(text + " is no interface or address of this machine");
  }

  private static @Nullable Gid first(List<Gid> addresses, boolean ipv4) {
    return addresses.stream().filter(each -> each.isIpv4Mapped() == ipv4).findFirst().orElse(null);
  }

  /** Returns whether this end has a source address of the group's family. */
  boolean reaches(Gid group) {
    return (group.isIpv4Mapped() ? ipv4 : ipv6) != null;
  }

  /** Returns whether one of the addresses is in a prefix of this end's interface. */
  boolean sharesLink(List<Gid> addresses) {
    return addresses.stream()
        .anyMatch(each -> prefixes.stream().anyMatch(prefix -> prefix.contains(each)));
  }

  /**
   * Opens a socket at this end.
   *
   * @param number number of the test
   * @param receives whether the socket also receives, at RoCEv2's port; otherwise it only sends,
   *     from a random port
   */
  FabricHost open(int number, boolean receives) {
    for (int tries = 1; ; tries++) {
      int port =
          receives
              ? PacketFormat.ROCE_PORT
              : LEAST_PORT + ThreadLocalRandom.current().nextInt(PORTS);
      try {
        return FabricHost.onInterface(number, interfaceName, ipv4, ipv6, port);
      } catch (SystemCallException refused) {
        if (refused.errno() != Errno.EADDRINUSE) {
          throw refused;
        }
        if (receives || tries == PORT_TRIES) {
          throw new HeddleException(
              "UDP port "
                  + port
                  + " is another program's on this machine, such as a bridge's, the software"
                  + " device's or rxe's; test from another host",
              refused);
        }
      }
    }
  }

  Memberships memberships() {
    return new Memberships(interfaceName, LinuxCalls.interfaceIndex(interfaceName));
  }

  @Override
  public String toString() {
    return interfaceName
        + (ipv4 == null ? "" : " " + ipv4)
        + (ipv6 == null ? "" : (ipv4 == null ? " " : ",") + ipv6);
  }
}
