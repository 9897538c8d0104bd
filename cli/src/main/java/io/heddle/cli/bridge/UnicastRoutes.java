package io.heddle.cli.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.multicast.LoopRules.Prefix;
import io.heddle.bridge.unicast.ProxyAddress;
import io.heddle.roce.wire.PacketFormat;
import java.util.List;

/**
 * Shell commands for the bridge's host that make unicast datagrams reach the bridge. They add rules
 * and local routes: the host then accepts RoCEv2 datagrams from one fabric to the other fabric's
 * prefixes as its own. With proxy addresses, the commands add these addresses to the host instead.
 */
final class UnicastRoutes {
  private UnicastRoutes() {}

  /** Returns lines with the commands for the bridge's host and notes for the fabrics' hosts. */
  static String of(BridgeConfig config) {
    StringBuilder text = new StringBuilder("unicast needs on this host, once after each start:\n");
    return config.isTransparent() ? routes(config, text) : addresses(config, text);
  }

  private static String addresses(BridgeConfig config, StringBuilder text) {
    for (ProxyAddress each : config.proxyAddresses().all()) {
      boolean ipv4 = each.address().isIpv4Mapped();
      text.append(ip(config.fabrics().get(each.side())))
          .append("addr add ")
          .append(each.address())
          .append(ipv4 ? "/32 dev " : "/128 nodad dev ")
          .append(interfaceOf(config.fabrics().get(each.side())))
          .append('\n');
    }
    for (ProxyAddress each : config.proxyAddresses().all()) {
      String near = config.fabrics().get(each.side()).name();
      String far = config.fabrics().get(1 - each.side()).name();
      boolean own = each.address().equals(each.host());
      text.append("hosts of fabric ")
          .append(near)
          .append(" reach ")
          .append(each.host())
          .append(" of ")
          .append(far)
          .append(own ? " by its own address, and need a route there by this host" : " as ")
          .append(own ? "" : each.address())
          .append('\n');
    }
    return text.toString();
  }

  /*
   * Returns the name of a fabric's interface, or a shell expression that finds it: by the
   * configured address, or else by the first GID of the device's port.
   */
  private static String interfaceOf(FabricSpec fabric) {
    if (fabric instanceof WireSpec) {
      return fabric.end();
    }
    if (fabric instanceof VerbsSpec verbs && !verbs.addresses().isEmpty()) {
      return "$(ip -o addr show to " + verbs.addresses().getFirst() + " | cut -d' ' -f2)";
    }
    String[] device = fabric.end().split(":", 2);
    return "$(cat /sys/class/infiniband/"
        + device[0]
        + "/ports/"
        + (device.length == 1 ? "1" : device[1])
        + "/gid_attrs/ndevs/0)";
  }

  private static String routes(BridgeConfig config, StringBuilder text) {
    for (int side = 0; side < config.fabrics().size(); side++) {
      for (Prefix prefix : config.prefixes().get(1 - side)) {
        text.append(commands(config.fabrics().get(side), prefix));
      }
    }
    for (int side = 0; side < config.fabrics().size(); side++) {
      List<Prefix> far = config.prefixes().get(1 - side);
      String name = config.fabrics().get(side).name();
      String other = config.fabrics().get(1 - side).name();
      text.append(
          far.isEmpty()
              ? "  prefix of fabric "
                  + other
                  + " is missing; set it in the configuration to see its commands here\n"
              : "and on each host of fabric "
                  + name
                  + " a route to "
                  + String.join(" and ", far.stream().map(Prefix::toString).toList())
                  + " by this host\n");
    }
    return text.toString();
  }

  private static String ip(FabricSpec fabric) {
    boolean elsewhere = fabric instanceof WireSpec wire && !wire.namespace().isEmpty();
    return elsewhere ? "  ip -n " + ((WireSpec) fabric).namespace() + " " : "  ip ";
  }

  private static String commands(FabricSpec fabric, Prefix prefix) {
    String ip = ip(fabric) + (prefix.address().isIpv4Mapped() ? "" : "-6 ");
    int table = PacketFormat.ROCE_PORT;
    return ip
        + "rule add iif "
        + fabric.end()
        + " to "
        + prefix
        + " ipproto udp dport "
        + PacketFormat.ROCE_PORT
        + " lookup "
        + table
        + "\n"
        + ip
        + "route add local "
        + prefix
        + " dev lo table "
        + table
        + "\n";
  }
}
