package io.heddle.gateway.config;

import io.heddle.addr.AddressText;
import io.heddle.bgp.net.TcpOptions;
import io.heddle.bgp.wire.Prefix;
import io.heddle.daemon.ConfigText;
import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.session.RuleGrace;
import io.heddle.flowspec.steering.IndirectionEncoding;
import io.heddle.flowspec.table.RuleLimits;
import io.heddle.platform.HeddleException;
import io.heddle.telemetry.server.TelemetryServer;
import io.heddle.telemetry.tls.TlsFiles;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Parser of the parts of a configuration that concern controllers and telemetry. */
final class ControllerParser {
  static final String SECTION = "controller";
  static final Set<String> TOP_KEYS =
      Set.of(
          "router-id",
          "as",
          "bgp-port",
          "rules-grace-s",
          "rules-max-age-s",
          "queue-pair-component",
          "list-id-type",
          "telemetry",
          "telemetry-port",
          "telemetry-certificate",
          "telemetry-key",
          "telemetry-authorities");
  private static final Set<String> PEER_KEYS =
      Set.of(
          "address",
          "port",
          "as",
          "local-address",
          "destinations",
          "md5-key",
          "gtsm-hops",
          "most-rules",
          "passive");
  private static final long MOST_AS = 0xffff_ffffL;
  private static final long MOST_SECONDS = 7 * 86_400;
  private static final String ROUTER_ID = "router-id";

  private final ConfigText.Section top;

  ControllerParser(ConfigText.Section top) {
    this.top = top;
  }

  /* Returns the settings of BGP. Without controllers, BGP doesn't run and needs no settings. */
  ControllerRules rules(List<ConfigText.Section> sections) {
    int routerId =
        top.get(
            ROUTER_ID, 0, "four numbers like 10.0.0.5, not 0.0.0.0", ControllerParser::routerId);
    long as = top.number("as", 0, 1, MOST_AS);
    List<ControllerPeer> peers = sections.stream().map(each -> peer(each, as)).toList();
    if (!peers.isEmpty() && (routerId == 0 || as == 0)) {
      throw sections
          .getFirst()
          .fail(
              sections.getFirst().number,
              "a controller needs router-id and as of this gateway, above all sections");
    }
    long graceS = top.number("rules-grace-s", -1, 0, MOST_SECONDS);
    long graceNs = TimeUnit.SECONDS.toNanos(graceS);
    return new ControllerRules(
        routerId,
        as,
        (int) top.number("bgp-port", 179, 0, 65_535),
        graceS < 0 ? RuleGrace.DEFAULT : new RuleGrace(graceNs, graceNs),
        TimeUnit.SECONDS.toNanos(top.number("rules-max-age-s", 3_600, 3, MOST_SECONDS)),
        new ComponentTypes(
            (int) top.number("queue-pair-component", ComponentTypes.DEFAULT.queuePair(), 14, 254)),
        new IndirectionEncoding(
            0, (int) top.number("list-id-type", IndirectionEncoding.DEFAULT_ID_TYPE, 0, 255)),
        peers);
  }

  private static ControllerPeer peer(ConfigText.Section section, long ownAs) {
    section.refuseUnknown(PEER_KEYS);
    Inet6Address address = address(section, "address");
    if (address == null) {
      throw missing(section, "address");
    }
    List<Prefix> destinations =
        section.get(
            "destinations",
            List.of(),
            "prefixes such as fc00:2::/64, 10.2.0.0/16",
            text ->
                Stream.of(text.split("[\\s,]+"))
                    .filter(word -> !word.isEmpty())
                    .map(Prefix::of)
                    .toList());
    if (destinations.isEmpty()) {
      throw missing(section, "destinations");
    }
    return new ControllerPeer(
        section.name,
        address,
        (int) section.number("port", 179, 1, 65_535),
        section.number("as", ownAs, 1, MOST_AS),
        address(section, "local-address"),
        destinations,
        md5Key(section),
        (int) section.number("gtsm-hops", 0, 0, 255),
        (int) section.number("most-rules", RuleLimits.MOST_RULES, 1, 32_768),
        section.flag("passive", false));
  }

  /** Returns the settings of telemetry; null if no telemetry is served. */
  @Nullable TelemetryConfig telemetry() {
    InetAddress address =
        top.get(
            "telemetry",
            (@Nullable InetAddress) null,
            "an address of this host, or :: for all",
            ControllerParser::anyAddress);
    if (address == null) {
      return null;
    }
    return new TelemetryConfig(
        address,
        (int) top.number("telemetry-port", TelemetryServer.PORT, 1, 65_535),
        new TlsFiles(
            file("telemetry-certificate"), file("telemetry-key"), file("telemetry-authorities")));
  }

  private Path file(String key) {
    String name = top.text(key, "");
    if (name.isEmpty()) {
      throw top.refuse("telemetry", "needs " + key + " = FILE, in PEM; docs/dci.md makes one");
    }
    return Path.of(name);
  }

  private static InetAddress anyAddress(String text) {
    InetAddress address = AddressText.parse(text);
    if (address == null) {
      throw new IllegalArgumentException(text);
    }
    return address;
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

  /* Returns the key of TCP-MD5. An error message must not contain it. */
  private static String md5Key(ConfigText.Section section) {
    String key = section.text("md5-key", "");
    int bytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > TcpOptions.LONGEST_KEY) {
      throw section.fail(
          section.number,
          "[controller %s]: md5-key has %s bytes, and TCP-MD5 takes %s at most (RFC 2385)"
              .formatted(section.name, bytes, TcpOptions.LONGEST_KEY));
    }
    return key;
  }

  private static HeddleException missing(ConfigText.Section section, String key) {
    return section.fail(
        section.number,
        "[controller " + section.name + "] has no '" + key + "'; docs/dci.md explains it");
  }
}
