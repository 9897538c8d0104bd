package io.heddle.tools.lab;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkTopology;
import io.heddle.tools.switching.LabSwitches;
import java.util.List;
import java.util.Locale;

/**
 * Network namespace for an emulated guest on a fabric. Each of the guest's tap devices is bridged
 * to a separate port on one leaf. The fabric's removal removes the namespace.
 */
public final class GuestPorts {
  private static final String NODE = "guest";
  private static final String PORT = "guest";

  /** Port number in the prefixes, which no host uses. */
  private static final int PORT_NUMBER = 0xff;

  private final NetworkNamespace namespace;

  private GuestPorts(NetworkNamespace namespace) {
    this.namespace = namespace;
  }

  /**
   * Creates a port for the guest at each leaf. The switches treat these ports like any other port.
   *
   * @param mtuBytes MTU of the guest's interfaces
   */
  public static GuestPorts up(Fabric fabric, LabSwitches switching, int mtuBytes) {
    FabricTopology topology = new FabricTopology(fabric.plan());
    String prefix = FabricLinks.prefix(fabric.name());
    NetworkTopology ports =
        new NetworkTopology()
            .node(NODE, "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1");
    for (FabricTopology.Node leaf : topology.nodes(FabricTopology.Role.LEAF)) {
      int number = leaf.number();
      bridge(ports, leaf, mtuBytes);
      /* The link-local address is for neighbour discovery. */
      ports.address(leaf.name(), PORT, "fe80::1/64", gateway(number) + "/64");
      for (FabricTopology.Link trunk : topology.trunksOf(leaf)) {
        ports.ip(
            trunk.far().node().name(),
            "route replace " + prefix(number) + " via fe80::1 dev " + trunk.far().interfaceName());
      }
    }
    ports.createLasting(prefix);
    for (FabricTopology.Node leaf : topology.nodes(FabricTopology.Role.LEAF)) {
      switching.addPort(leaf.name(), PORT);
    }
    return new GuestPorts(new NetworkNamespace(prefix + NODE));
  }

  private static void bridge(NetworkTopology ports, FabricTopology.Node leaf, int mtuBytes) {
    int number = leaf.number();
    String mtu = " mtu " + mtuBytes;
    ports
        .link(
            NODE + " leaf" + number + mtu,
            leaf.name() + " " + PORT + mtu + " address " + gatewayMacAddress(number))
        .ip(
            NODE,
            "link add bridge" + number + " type bridge",
            "tuntap add dev " + tap(number) + " mode tap",
            "link set " + tap(number) + mtu + " master bridge" + number + " up",
            "link set leaf" + number + " master bridge" + number,
            "link set bridge" + number + " up");
  }

  /** Returns the command line that runs {@code command} in the namespace of the tap devices. */
  public List<String> command(List<String> command) {
    return namespace.command(command);
  }

  /** Returns the tap device at a leaf; leaves count from 1. */
  public static String tap(int leaf) {
    return "tap" + leaf;
  }

  /** Returns the prefix of the guest's port at a leaf. */
  public static String prefix(int leaf) {
    return String.format(Locale.ROOT, "fd00:%x:%x::/64", leaf, PORT_NUMBER);
  }

  /** Returns the leaf's address on the guest's port. */
  public static String gateway(int leaf) {
    return String.format(Locale.ROOT, "fd00:%x:%x::1", leaf, PORT_NUMBER);
  }

  /** Returns the guest's address on the port at a leaf. */
  public static String address(int leaf) {
    return String.format(Locale.ROOT, "fd00:%x:%x::2", leaf, PORT_NUMBER);
  }

  /**
   * Returns the MAC address of a leaf on the guest's port. It is fixed, so that the guest needs no
   * neighbour discovery.
   */
  public static String gatewayMacAddress(int leaf) {
    return String.format(Locale.ROOT, "02:00:00:00:%02x:01", PORT_NUMBER - leaf);
  }
}
