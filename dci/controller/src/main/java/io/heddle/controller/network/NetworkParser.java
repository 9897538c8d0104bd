package io.heddle.controller.network;

import io.heddle.addr.AddressText;
import io.heddle.bgp.net.TcpOptions;
import io.heddle.daemon.ConfigText;
import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.steering.IndirectionEncoding;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import io.heddle.telemetry.server.TelemetryServer;
import io.heddle.telemetry.tls.TlsFiles;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Parser for the sections of the controller's configuration. docs/dci.md explains each key. */
public final class NetworkParser {
  /** Default control socket of the controller. */
  public static final Path DEFAULT_CONTROL = Path.of("/run/heddle/controller.sock");

  private static final String GATEWAY = "gateway";
  private static final String ROUTER = "router";
  private static final String PEER = "peer";
  private static final String LINK = "link";
  private static final String PATH = "path";
  private static final String ADDRESS = "address";
  private static final String ROUTER_ID = "router-id";
  private static final String SERVER_NAME = "server-name";

  /** Kinds of sections in the configuration. */
  public static final List<String> SECTIONS = List.of(GATEWAY, ROUTER, PEER, LINK, PATH);

  /** Keys allowed above all sections. */
  public static final Set<String> TOP_KEYS =
      Set.of(
          ROUTER_ID,
          "as",
          "bgp-port",
          "restart-s",
          "refresh-s",
          "queue-pair-component",
          "list-id-type",
          "control",
          "audit",
          "certificate",
          "key",
          "authorities");

  private static final Set<String> TARGET_KEYS = Set.of(ADDRESS, "port", SERVER_NAME);
  private static final Set<String> GATEWAY_KEYS = Set.of(ADDRESS, "port", SERVER_NAME, ROUTER_ID);
  private static final Set<String> PEER_KEYS =
      Set.of(ADDRESS, "port", "as", "local-address", "md5-key", "gtsm-hops", "passive");
  private static final Set<String> LINK_KEYS = Set.of("target", "interface", "capacity-mbps");
  private static final Set<String> PATH_KEYS = Set.of(GATEWAY, "list", "links");
  private static final long MOST_AS = 0xffff_ffffL;
  private static final long DAY_S = 86_400;

  private final List<ConfigText.Section> sections;
  private final ConfigText.Section top;

  private NetworkParser(List<ConfigText.Section> sections) {
    this.sections = sections;
    top = sections.getFirst();
  }

  /**
   * Parses the sections. Returns null if there are none: a dry run needs no sections.
   *
   * @throws HeddleException for an error, whose message names file, line, key, value and the
   *     allowed values
   */
  public static @Nullable NetworkConfig parse(List<ConfigText.Section> sections) {
    return sections.size() == 1 ? null : new NetworkParser(sections).network();
  }

  private NetworkConfig network() {
    int routerId = top.get(ROUTER_ID, 0, "four numbers like 10.0.0.5", NetworkParser::routerId);
    long as = top.number("as", 0, 1, MOST_AS);
    if (routerId == 0 || as == 0) {
      throw sections
          .get(1)
          .fail(sections.get(1).number, "a network needs router-id and as, above all sections");
    }
    List<NetworkConfig.Target> targets = new ArrayList<>();
    of(GATEWAY).forEach(each -> targets.add(target(each, targets)));
    of(ROUTER).forEach(each -> targets.add(target(each, targets)));
    List<NetworkConfig.Link> links = of(LINK).stream().map(each -> link(each, targets)).toList();
    List<NetworkConfig.ListPath> paths = new ArrayList<>();
    of(PATH).forEach(each -> paths.add(path(each, targets, links, paths)));
    String audit = top.text("audit", "");
    return new NetworkConfig(
        routerId,
        as,
        (int) top.number("bgp-port", 0, 0, 65_535),
        (int) top.number("restart-s", 120, 0, 4_095),
        TimeUnit.SECONDS.toNanos(top.number("refresh-s", 1_200, 1, DAY_S)),
        new ComponentTypes(
            (int) top.number("queue-pair-component", ComponentTypes.DEFAULT.queuePair(), 14, 254)),
        new IndirectionEncoding(
            0, (int) top.number("list-id-type", IndirectionEncoding.DEFAULT_ID_TYPE, 0, 255)),
        top.get("control", DEFAULT_CONTROL, "a file", Path::of),
        audit.isEmpty() ? null : Path.of(audit),
        new TlsFiles(file("certificate"), file("key"), file("authorities")),
        targets,
        of(PEER).stream().map(each -> peer(each, as)).toList(),
        links,
        paths);
  }

  private List<ConfigText.Section> of(String kind) {
    return sections.stream().filter(each -> each.kind.equals(kind)).toList();
  }

  private Path file(String key) {
    String name = top.text(key, "");
    if (name.isEmpty()) {
      throw sections
          .get(1)
          .fail(
              sections.get(1).number,
              "telemetry needs %s = FILE above all sections, in PEM".formatted(key));
    }
    return Path.of(name);
  }

  private static NetworkConfig.Target target(
      ConfigText.Section section, List<NetworkConfig.Target> before) {
    boolean gateway = section.kind.equals(GATEWAY);
    section.refuseUnknown(gateway ? GATEWAY_KEYS : TARGET_KEYS);
    if (before.stream().anyMatch(each -> each.name().equals(section.name))) {
      throw section.fail(section.number, "target " + section.name + " is defined twice");
    }
    int routerId = section.get(ROUTER_ID, 0, "four numbers like 10.0.0.1", NetworkParser::routerId);
    if (gateway && routerId == 0) {
      throw missing(section, ROUTER_ID);
    }
    String serverName = section.text(SERVER_NAME, "");
    return new NetworkConfig.Target(
        section.name,
        required(section, ADDRESS),
        (int) section.number("port", TelemetryServer.PORT, 1, 65_535),
        serverName.isEmpty() ? null : serverName,
        routerId);
  }

  private static NetworkConfig.Peer peer(ConfigText.Section section, long ownAs) {
    section.refuseUnknown(PEER_KEYS);
    required(section, ADDRESS);
    String key = section.text("md5-key", "");
    if (key.getBytes(StandardCharsets.UTF_8).length > TcpOptions.LONGEST_KEY) {
      throw section.fail(
          section.number,
          "[peer %s]: TCP-MD5 takes a key of %s bytes at most (RFC 2385)"
              .formatted(section.name, TcpOptions.LONGEST_KEY));
    }
    return new NetworkConfig.Peer(
        section.name,
        java.util.Objects.requireNonNull(address(section, ADDRESS)),
        (int) section.number("port", 179, 1, 65_535),
        section.number("as", ownAs, 1, MOST_AS),
        address(section, "local-address"),
        key,
        (int) section.number("gtsm-hops", 0, 0, 255),
        section.flag("passive", false));
  }

  private static NetworkConfig.Link link(
      ConfigText.Section section, List<NetworkConfig.Target> targets) {
    section.refuseUnknown(LINK_KEYS);
    List<String> names = targets.stream().map(NetworkConfig.Target::name).toList();
    known(section, "target", names, "[gateway] or [router]");
    long capacity = section.number("capacity-mbps", 0, 1, 100_000_000);
    if (capacity == 0) {
      throw missing(section, "capacity-mbps");
    }
    return new NetworkConfig.Link(
        section.name, required(section, "target"), required(section, "interface"), 1e6 * capacity);
  }

  private static NetworkConfig.ListPath path(
      ConfigText.Section section,
      List<NetworkConfig.Target> targets,
      List<NetworkConfig.Link> links,
      List<NetworkConfig.ListPath> before) {
    section.refuseUnknown(PATH_KEYS);
    List<String> gateways =
        targets.stream()
            .filter(NetworkConfig.Target::isGateway)
            .map(NetworkConfig.Target::name)
            .toList();
    String gateway = known(section, GATEWAY, gateways, "[gateway]");
    int list = (int) section.number("list", 0, 1, 64);
    if (list == 0) {
      throw missing(section, "list");
    }
    if (before.stream().anyMatch(each -> each.gateway().equals(gateway) && each.list() == list)) {
      throw section.refuse("list", "of " + gateway + " already has a path");
    }
    List<String> names = links.stream().map(NetworkConfig.Link::name).toList();
    List<String> over =
        Stream.of(required(section, "links").split("[\\s,]+"))
            .filter(each -> !each.isEmpty())
            .toList();
    for (String each : over) {
      if (!names.contains(each)) {
        throw section.refuse(
            "links",
            "names " + each + ", which is no [link]" + NearestName.suggestion(each, names));
      }
    }
    if (new HashSet<>(over).size() < over.size()) {
      throw section.refuse("links", "names a link twice");
    }
    return new NetworkConfig.ListPath(gateway, list, over);
  }

  private static String known(
      ConfigText.Section section, String key, List<String> names, String kind) {
    String name = required(section, key);
    if (!names.contains(name)) {
      throw section.refuse(
          key, "is no " + kind + " of this file" + NearestName.suggestion(name, names));
    }
    return name;
  }

  private static String required(ConfigText.Section section, String key) {
    String text = section.get(key, "", "a text", Function.identity());
    if (text.isEmpty()) {
      throw missing(section, key);
    }
    return text;
  }

  private static HeddleException missing(ConfigText.Section section, String key) {
    return section.fail(
        section.number,
        "[%s %s] has no '%s'; docs/dci.md explains it".formatted(section.kind, section.name, key));
  }

  private static @Nullable Inet6Address address(ConfigText.Section section, String key) {
    return section.get(
        key,
        (@Nullable Inet6Address) null,
        "an IPv6 address",
        text -> {
          if (AddressText.parse(text) instanceof Inet6Address address) {
            return address;
          }
          throw new IllegalArgumentException(text);
        });
  }

  private static int routerId(String text) {
    if (AddressText.parse(text) instanceof Inet4Address address && !address.isAnyLocalAddress()) {
      return ByteBuffer.wrap(address.getAddress()).getInt();
    }
    throw new IllegalArgumentException(text);
  }
}
