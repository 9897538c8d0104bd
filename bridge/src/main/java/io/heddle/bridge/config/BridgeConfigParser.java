package io.heddle.bridge.config;

import io.heddle.addr.AddressText;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.multicast.FlowDirection;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.unicast.PrefixOverlap;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.QueuePairMapping;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Parser of a configuration file into a {@link BridgeConfig}. */
public final class BridgeConfigParser {
  private static final List<String> KEYWORDS =
      List.of("bridge", "fabric", "group", "peer", "proxy", "redundancy", "unicast");
  private static final List<String> GROUP_KEYS =
      List.of("mgid", "direction", "tos", "owner", "pgm", "rate", "burst", "queue", "policy");
  /*
   * Key under which the map of seen lines stores the number of the first line with owner=. No other
   * line has this key.
   */
  private static final String OWNERS = "owner=";
  private static final long MOST_RATE = 100_000_000;
  private static final int MOST_BURST = 100_000;
  private static final int MOST_QUEUE = 1_000_000;
  private static final int IPV4_BITS = 96;
  private static final int MOST_PORT = 65_535;
  private static final int MOST_CORE = 8191;
  private static final int MOST_BRIDGE = 65_535;

  private final String file;
  private String name = "bridge";
  private Path status = BridgeConfig.STATUS;
  private Path control = BridgeConfig.CONTROL;
  private int core = BridgeConfig.NO_CORE;
  private final Map<String, FabricSpec> fabrics = new LinkedHashMap<>();
  private final Map<String, List<LoopRules.Prefix>> prefixes = new LinkedHashMap<>();
  private final Map<String, RateLimit> links = new LinkedHashMap<>();
  private final Map<Gid, Integer> bridges = new LinkedHashMap<>();
  private final Map<Gid, GroupSettings> groups = new LinkedHashMap<>();
  private final ProxyLines proxies = new ProxyLines();
  private @Nullable UnicastSettings unicast;
  private @Nullable PeerSettings redundancy;
  private final Map<String, Integer> seenLines = new LinkedHashMap<>();

  private BridgeConfigParser(String file) {
    this.file = file;
  }

  /**
   * Reads a configuration file.
   *
   * @throws HeddleException if it can't be read or contains an error; the message names the file,
   *     and the line and word of the error
   */
  public static BridgeConfig read(Path path) {
    try {
      return parse(path.toString(), Files.readAllLines(path));
    } catch (IOException unreadable) {
      throw new HeddleException(
          "the configuration "
              + path
              + " can't be read: "
              + FileFailure.reason(unreadable)
              + "; write it, or name another",
          unreadable);
    }
  }

  /** Parses the lines of a configuration, with the same errors as {@link #read}. */
  public static BridgeConfig parse(String file, List<String> lines) {
    BridgeConfigParser parser = new BridgeConfigParser(file);
    for (int i = 0; i < lines.size(); i++) {
      String text = lines.get(i).replaceFirst("(^|\\s)#.*", "").strip();
      if (!text.isEmpty()) {
        parser.take(new ConfigLine(file, i + 1, text));
      }
    }
    return parser.finish();
  }

  private void take(ConfigLine line) {
    switch (line.keyword()) {
      case "bridge" -> takeBridge(line);
      case "fabric" -> takeFabric(line);
      case "group" -> takeGroup(line);
      case "peer" -> takePeer(line);
      case "proxy" -> proxies.take(line, this::hostAddress);
      case "redundancy" -> {
        redundancy = RedundancyLine.parse(line, BridgeConfigParser::address);
        refuseDuplicate(line, "redundancy");
      }
      case "unicast" -> {
        refuseDuplicate(line, "unicast");
        unicast = UnicastLine.parse(line);
      }
      default -> {
        String question = NearestName.suggestion(line.keyword(), KEYWORDS);
        throw line.fail(
            "a line begins with "
                + String.join(", ", KEYWORDS)
                + ", not '"
                + line.keyword()
                + "'"
                + question);
      }
    }
  }

  private void refuseDuplicate(ConfigLine line, String what) {
    Integer before = seenLines.putIfAbsent(what, line.number());
    if (before != null) {
      throw line.fail(what + " is already defined in line " + before);
    }
  }

  private void takeBridge(ConfigLine line) {
    line.allow(List.of("status", "control", "core"));
    name = line.words("NAME").getFirst();
    refuseDuplicate(line, "bridge");
    status = path(line, "status", status);
    control = path(line, "control", control);
    core = line.number("core", BridgeConfig.NO_CORE, 0, MOST_CORE);
  }

  private static Path path(ConfigLine line, String key, Path standard) {
    return line.get(
        key,
        standard,
        "the path of a file",
        text -> {
          if (!text.startsWith("/")) {
            throw new IllegalArgumentException("relative");
          }
          return Path.of(text);
        });
  }

  private void takeFabric(ConfigLine line) {
    List<String> words = line.words("NAME", "KIND");
    String fabric = words.getFirst();
    if (!fabric.equals("a") && !fabric.equals("b")) {
      throw line.fail("'" + fabric + "' isn't a fabric; the fabrics are a and b");
    }
    refuseDuplicate(line, "fabric " + fabric);
    FabricSpec spec = FabricLine.parse(line, fabric, words.get(1), this::hostAddress);
    for (FabricSpec other : fabrics.values()) {
      if (other.isSameEnd(spec)) {
        throw line.fail(FabricLine.end(spec) + " already belongs to fabric " + other.name());
      }
    }
    fabrics.put(fabric, spec);
    List<LoopRules.Prefix> hosts = new ArrayList<>();
    for (String each : FabricLine.listOf(line, "prefix")) {
      hosts.add(
          line.parse(
              "prefix=" + each, each, "a prefix such as 10.1.0.0/16", BridgeConfigParser::prefix));
    }
    prefixes.put(fabric, List.copyOf(hosts));
    links.put(fabric, limit(line));
  }

  private void takePeer(ConfigLine line) {
    line.allow(List.of());
    String word = line.words("ADDRESS").getFirst();
    Gid address = line.parse("'" + word + "'", word, "an IP address of a host", this::hostAddress);
    refuseDuplicate(line, "peer " + address);
    bridges.put(address, line.number());
  }

  private void takeGroup(ConfigLine line) {
    line.allow(GROUP_KEYS);
    String word = line.words("ADDRESS").getFirst();
    String host = word;
    int port = 0;
    int colon = word.startsWith("[") ? word.indexOf("]:") + 1 : word.indexOf(':');
    boolean single = colon > 0 && (word.startsWith("[") || word.lastIndexOf(':') == colon);
    if (single) {
      host = word.substring(0, colon);
      String text = word.substring(colon + 1);
      port =
          line.parse(
              "the port of '" + word + "'",
              text,
              "a number from 1 to 65535",
              digits -> {
                int value = Integer.parseInt(digits);
                if (value < 1 || value > MOST_PORT) {
                  throw new IllegalArgumentException("out of range");
                }
                return value;
              });
    }
    String bare =
        host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    Gid address =
        line.parse(
            "'" + word + "'",
            bare,
            "a multicast address, or ADDRESS:PORT",
            text -> {
              Gid parsed = address(text);
              if (!MgidFormat.isMulticast(parsed)) {
                throw new IllegalArgumentException("unicast");
              }
              return parsed;
            });
    refuseDuplicate(line, "group " + address);
    MgidFormat standard = MgidFormat.RDMA;
    MgidFormat mgid = line.choice("mgid", standard, MgidFormat.words(), MgidFormat::named);
    if (!mgid.supports(address)) {
      throw line.fail("mgid=" + mgid.word() + " can't encode " + address);
    }
    FlowDirection direction =
        line.choice("direction", FlowDirection.BOTH, FlowDirection.words(), FlowDirection::named);
    int trafficClass = line.number("tos", 0, 0, 255);
    int owner = line.number("owner", 0, 1, MOST_BRIDGE);
    if (owner != 0) {
      seenLines.putIfAbsent(OWNERS, line.number());
    }
    boolean pgm = line.flag("pgm", false);
    groups.put(
        address,
        new GroupSettings(address, port, mgid, direction, trafficClass, owner, pgm, limit(line)));
  }

  private static RateLimit limit(ConfigLine line) {
    long rate =
        line.get(
            "rate",
            0L,
            "packets a second, as 200000 or 200k",
            text -> {
              String digits = text.replaceFirst("[kM]$", "");
              long unit = text.endsWith("k") ? 1000 : text.endsWith("M") ? 1_000_000 : 1;
              long value = Long.parseLong(digits);
              if (value < 1 || value > MOST_RATE / unit) {
                throw new IllegalArgumentException("out of range");
              }
              return value * unit;
            });
    int burst = line.number("burst", RateLimit.BURST, 1, MOST_BURST);
    int queue = line.number("queue", RateLimit.QUEUE, 0, MOST_QUEUE);
    boolean oldest =
        line.choice(
            "policy",
            true,
            RateLimit.POLICIES,
            text -> {
              if (!RateLimit.POLICIES.contains(text)) {
                throw new IllegalArgumentException("neither");
              }
              return text.equals("oldest");
            });
    for (String key : List.of("burst", "queue", "policy")) {
      if (rate == 0 && line.text(key) != null) {
        throw line.fail(key + "= has no meaning without rate=");
      }
    }
    return new RateLimit(rate, burst, queue, oldest);
  }

  private Gid hostAddress(String text) {
    Gid address = address(text);
    if (MgidFormat.isMulticast(address)) {
      throw new IllegalArgumentException("multicast");
    }
    return address;
  }

  private static Gid address(String text) {
    InetAddress address = AddressText.parse(text);
    if (address == null) {
      throw new IllegalArgumentException("no address");
    }
    return Gid.of(address);
  }

  private static LoopRules.Prefix prefix(String text) {
    int slash = text.indexOf('/');
    if (slash < 0) {
      throw new IllegalArgumentException("no length");
    }
    Gid address = address(text.substring(0, slash));
    int most = address.isIpv4Mapped() ? 32 : 128;
    int bits = Integer.parseInt(text.substring(slash + 1));
    if (bits < 0 || bits > most) {
      throw new IllegalArgumentException("length");
    }
    return new LoopRules.Prefix(address, bits + (most == 32 ? IPV4_BITS : 0));
  }

  private BridgeConfig finish() {
    for (String fabric : List.of("a", "b")) {
      if (!fabrics.containsKey(fabric)) {
        throw new HeddleException(
            file
                + ": there is no fabric "
                + fabric
                + "; add fabric "
                + fabric
                + " wire interface=NAME");
      }
    }
    if (unicast != null) {
      UnicastLine.refuseKinds(file, unicast, fabrics.values());
    }
    Integer owned = seenLines.get(OWNERS);
    if (owned != null && redundancy == null) {
      throw new HeddleException(
          file
              + " line "
              + owned
              + ": owner= has no meaning without a line redundancy bridge-id=NUMBER");
    }
    List<List<LoopRules.Prefix>> hosts = List.of(prefixes.get("a"), prefixes.get("b"));
    boolean oneNamespace = namespace("a").equals(namespace("b"));
    ProxyAddresses proxyAddresses = proxies.finish(hosts, oneNamespace);
    if (!proxies.isEmpty() && (unicast == null || unicast.isTransparent())) {
      throw proxies.first().fail("proxy has no meaning without a line unicast addresses=proxied");
    }
    if (unicast != null && unicast.isTransparent()) {
      PrefixOverlap.refuse(file + ": ", hosts.getFirst(), hosts.getLast());
    }
    return new BridgeConfig(
        name,
        status,
        control,
        core,
        List.of(withProxyAddresses("a", proxyAddresses), withProxyAddresses("b", proxyAddresses)),
        hosts,
        List.of(links.get("a"), links.get("b")),
        List.copyOf(bridges.keySet()),
        List.copyOf(groups.values()),
        unicast == null
            ? null
            : new UnicastSettings(
                unicast.trafficClass(), unicast.addresses(), proxyAddresses, unicast.mapping()),
        redundancy);
  }

  private String namespace(String fabric) {
    return fabrics.get(fabric) instanceof WireSpec wire ? wire.namespace() : "";
  }

  private FabricSpec withProxyAddresses(String name, ProxyAddresses proxyAddresses) {
    FabricSpec spec = Objects.requireNonNull(fabrics.get(name));
    List<Gid> own = proxyAddresses.addressesIn(name.equals("a") ? 0 : 1);
    QueuePairMapping mapping = unicast == null ? null : unicast.mapping();
    return switch (spec) {
      case WireSpec wire -> wire.withProxyAddresses(own);
      case VerbsSpec verbs -> verbs.mapping(own, mapping == null ? 0 : mapping.queuePairs());
    };
  }
}
