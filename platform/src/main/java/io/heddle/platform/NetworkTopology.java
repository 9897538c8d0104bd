package io.heddle.platform;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Declaration of network namespaces, the links between them, and their addresses and routes. One
 * call creates all of it:
 *
 * <pre>
 * try (NetworkNamespaces net =
 *     new NetworkTopology()
 *         .node("host")
 *         .node("router", "net.ipv6.conf.all.forwarding=1")
 *         .link("host lan mtu 9000", "router lan mtu 9000")
 *         .address("host", "lan", "fd00::1/64")
 *         .ip("host", "route add default via fe80::1 dev lan")
 *         .create()) {
 * </pre>
 */
public final class NetworkTopology {
  private static final String DOWN = " down";

  /* Command that creates a device, without the namespace of the veth pair's other end. */
  private record Device(String command, String peer) {}

  private final Map<String, List<String>> settings = new LinkedHashMap<>();
  private final Map<String, List<Device>> devices = new LinkedHashMap<>();
  private final Map<String, List<String>> lines = new LinkedHashMap<>();

  /** Returns a declaration of nodes without links. */
  public static NetworkTopology of(String... nodes) {
    NetworkTopology topology = new NetworkTopology();
    for (String each : nodes) {
      topology.node(each);
    }
    return topology;
  }

  /**
   * Declares a node.
   *
   * @param settings kernel settings, such as {@code net.ipv4.ip_forward=1}; applied before links
   *     exist, so that links take the defaults
   */
  public NetworkTopology node(String node, String... settings) {
    this.settings.put(node, List.of(settings));
    return ip(node, "link set lo up");
  }

  /**
   * Declares a veth pair. An end is {@code NODE DEVICE [ATTRIBUTE VALUE]...}, with attributes of ip
   * link add; {@code down} as its last word leaves it down.
   */
  public NetworkTopology link(String one, String other) {
    String[] first = words(one);
    String[] second = words(other);
    devices
        .computeIfAbsent(first[0], node -> new ArrayList<>())
        .add(
            new Device(
                "link add name " + first[1] + " type veth peer name " + second[1], second[0]));
    return up(one, first).up(other, second);
  }

  /**
   * Declares a veth pair as {@link #link(String, String)} does, with an address at each end, as
   * {@link #address} declares it.
   */
  public NetworkTopology link(String one, String address, String other, String otherAddress) {
    return link(one, other).addressAt(one, address).addressAt(other, otherAddress);
  }

  private NetworkTopology addressAt(String end, String address) {
    String[] words = words(end);
    return address(words[0], words[1].split(" ")[0], address);
  }

  /* Returns an end's node, and its device with the attributes. */
  private static String[] words(String end) {
    boolean down = end.endsWith(DOWN);
    return (down ? end.substring(0, end.length() - DOWN.length()) : end).split(" ", 2);
  }

  private NetworkTopology up(String end, String[] words) {
    return end.endsWith(DOWN)
        ? this
        : ip(words[0], "link set dev " + words[1].split(" ")[0] + " up");
  }

  /**
   * Declares addresses of a device, with their prefix lengths. IPv6 addresses get no duplicate
   * address detection, which would keep each of them tentative for a second or more.
   */
  public NetworkTopology address(String node, String device, String... addresses) {
    for (String each : addresses) {
      ip(node, "addr add " + each + " dev " + device + (each.contains(":") ? " nodad" : ""));
    }
    return this;
  }

  /** Declares lines of {@code ip -batch} that run at a node after all links exist, in order. */
  public NetworkTopology ip(String node, String... lines) {
    return ip(node, List.of(lines));
  }

  /** Declares lines of {@code ip -batch} that run at a node after all links exist, in order. */
  public NetworkTopology ip(String node, List<String> lines) {
    this.lines.computeIfAbsent(node, name -> new ArrayList<>()).addAll(lines);
    return this;
  }

  /**
   * Creates the topology. It ends with the returned object or with this process.
   *
   * @throws HeddleException if the system refuses; nothing is left behind then
   */
  public NetworkNamespaces create() {
    NetworkNamespaces created = new NetworkNamespaces();
    try {
      created.add(this);
      return created;
    } catch (RuntimeException failed) {
      created.closeAfter(failed);
      throw failed;
    }
  }

  /**
   * Creates the topology so that it outlives this process. {@link NetworkNamespaces#named} finds
   * it. Links may lead to nodes that exist under the same prefix.
   *
   * @param prefix beginning of the namespaces' names; the nodes' names follow
   */
  public void createLasting(String prefix) {
    create(prefix, NetworkNamespace::add);
  }

  void create(String prefix, Consumer<NetworkNamespace> add) {
    settings.forEach((node, values) -> {
      NetworkNamespace namespace = new NetworkNamespace(prefix + node);
      add.accept(namespace);
      if (!values.isEmpty()) {
        namespace.set(values);
      }
    });
    devices.forEach((node, own) ->
        new NetworkNamespace(prefix + node)
            .ip(
                own.stream()
                    .map(each -> each.command() + " netns " + prefix + each.peer())
                    .toList()));
    lines.forEach((node, own) -> new NetworkNamespace(prefix + node).ip(own));
  }
}
