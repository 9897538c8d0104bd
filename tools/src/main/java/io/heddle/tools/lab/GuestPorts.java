package io.heddle.tools.lab;

import io.heddle.cli.kit.Shell;
import io.heddle.tools.switching.LabSwitches;
import java.util.ArrayList;
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

  private final String namespace;

  private GuestPorts(String namespace) {
    this.namespace = namespace;
  }

  /**
   * Creates a port for the guest at each leaf. The switches treat these ports like any other port.
   *
   * @param mtuBytes MTU of the guest's interfaces
   */
  public static GuestPorts up(Fabric fabric, LabSwitches switching, int mtuBytes) {
    FabricTopology topology = new FabricTopology(fabric.plan());
    FabricLinks links = new FabricLinks(topology, fabric.name());
    GuestPorts ports = new GuestPorts(FabricLinks.prefix(fabric.name()) + NODE);
    Shell.run(List.of("ip", "netns", "add", ports.namespace));
    Shell.run(
        ports.command(
            List.of(
                "sysctl",
                "-qw",
                "net.ipv6.conf.all.disable_ipv6=1",
                "net.ipv6.conf.default.disable_ipv6=1")));
    for (FabricTopology.Node leaf : topology.nodes(FabricTopology.Role.LEAF)) {
      int number = leaf.number();
      batch(ports.namespace, bridged(number, links.namespace(leaf), mtuBytes));
      batch(
          links.namespace(leaf),
          List.of(
              /* Link-local address, which neighbour discovery needs. */
              "addr add fe80::1/64 dev " + PORT + " nodad",
              "addr add " + gateway(number) + "/64 dev " + PORT + " nodad",
              "link set " + PORT + " up"));
      switching.addPort(leaf.name(), PORT);
      for (FabricTopology.Link trunk : topology.trunksOf(leaf)) {
        batch(
            links.namespace(trunk.far().node()),
            List.of(
                "route replace "
                    + prefix(number)
                    + " via fe80::1 dev "
                    + trunk.far().interfaceName()));
      }
    }
    return ports;
  }

  private static List<String> bridged(int leaf, String leafsNamespace, int mtuBytes) {
    List<String> lines = new ArrayList<>();
    lines.add("link add bridge" + leaf + " type bridge");
    lines.add("tuntap add dev " + tap(leaf) + " mode tap");
    lines.add(
        String.format(
            Locale.ROOT,
            "link add leaf%s mtu %s type veth peer name %s mtu %s address %s netns %s",
            leaf,
            mtuBytes,
            PORT,
            mtuBytes,
            gatewayMacAddress(leaf),
            leafsNamespace));
    for (String port : List.of(tap(leaf), "leaf" + leaf)) {
      lines.add("link set " + port + " mtu " + mtuBytes + " master bridge" + leaf + " up");
    }
    lines.add("link set bridge" + leaf + " up");
    return lines;
  }

  private static void batch(String namespace, List<String> lines) {
    Shell.run(List.of("ip", "-n", namespace, "-batch", "-"), String.join("\n", lines) + "\n");
  }

  /** Returns the command line that runs {@code command} in the namespace of the tap devices. */
  public List<String> command(List<String> command) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
    whole.addAll(command);
    return whole;
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
