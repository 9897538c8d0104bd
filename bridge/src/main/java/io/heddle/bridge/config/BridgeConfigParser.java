package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.unicast.PrefixOverlap;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parser of a configuration file into a {@link BridgeConfig}. */
public final class BridgeConfigParser {
  private static final List<String> NAMES = List.of("a", "b");

  private final ConfigText text;

  private BridgeConfigParser(ConfigText text) {
    this.text = text;
  }

  /**
   * Reads a configuration file.
   *
   * @throws HeddleException if it can't be read or contains an error; the message names the file,
   *     and the line, key and value of the error
   */
  public static BridgeConfig read(Path path) {
    return parse(path.toString(), ConfigText.read(path));
  }

  /** Parses the text of a configuration, with the same errors as {@link #read}. */
  public static BridgeConfig parse(String file, String content) {
    OldSyntax.refuse(file, content.lines().toList());
    return new BridgeConfigParser(
            ConfigText.parse(
                file,
                content,
                BridgeKeys.TOP,
                BridgeKeys.FABRIC,
                BridgeKeys.PEER,
                BridgeKeys.GROUP,
                BridgeKeys.UNICAST,
                BridgeKeys.PROXY,
                BridgeKeys.REDUNDANCY))
        .config(file);
  }

  private BridgeConfig config(String file) {
    ConfigText.Section top = text.top();
    Path status = top.get(BridgeKeys.STATUS);
    Path control = top.get(BridgeKeys.CONTROL);
    int core = top.get(BridgeKeys.CORE);
    List<FabricSpec> fabrics = new ArrayList<>();
    List<List<LoopRules.Prefix>> prefixes = new ArrayList<>();
    List<RateLimit> links = new ArrayList<>();
    for (String name : NAMES) {
      ConfigText.Section section = fabricSection(name);
      FabricSpec spec = fabric(section);
      if (!fabrics.isEmpty() && fabrics.getFirst().isSameEnd(spec)) {
        throw section.refuse(
            spec instanceof WireSpec ? BridgeKeys.INTERFACE : BridgeKeys.DEVICE,
            "already belongs to fabric a");
      }
      fabrics.add(spec);
      prefixes.add(section.get(BridgeKeys.PREFIX));
      links.add(limit(section, BridgeKeys.LINK_LIMIT));
    }
    boolean oneNamespace = namespace(fabrics.getFirst()).equals(namespace(fabrics.getLast()));
    UnicastSettings unicast = new UnicastParser().parse(text, fabrics, prefixes, oneNamespace);
    if (unicast != null && unicast.isTransparent()) {
      PrefixOverlap.refuse(file + ": ", prefixes.getFirst(), prefixes.getLast());
    }
    List<ConfigText.Section> redundancy = text.sections(BridgeKeys.REDUNDANCY);
    return new BridgeConfig(
        text,
        top.get(BridgeKeys.NAME),
        status,
        control,
        core,
        List.of(
            withUnicast(fabrics.getFirst(), 0, unicast),
            withUnicast(fabrics.getLast(), 1, unicast)),
        List.copyOf(prefixes),
        List.copyOf(links),
        peers(),
        groups(!redundancy.isEmpty()),
        unicast,
        redundancy.isEmpty() ? null : RedundancyParser.parse(redundancy.getFirst()));
  }

  private ConfigText.Section fabricSection(String name) {
    return text.sections(BridgeKeys.FABRIC).stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            text.top()
                .fail(
                    "there is no fabric %s; add a section [fabric %s] with interface = NAME"
                        .formatted(name, name)));
  }

  private static FabricSpec fabric(ConfigText.Section section) {
    boolean verbs = section.get(BridgeKeys.IS_VERBS);
    List<ConfigKey<?>> others =
        verbs
            ? List.of(BridgeKeys.INTERFACE, BridgeKeys.NAMESPACE, BridgeKeys.TRAINS)
            : List.of(BridgeKeys.DEVICE);
    for (ConfigKey<?> key : others) {
      if (section.has(key)) {
        throw section.refuse(
            key, "has no meaning for a fabric of kind " + (verbs ? "verbs" : "wire"));
      }
    }
    List<Gid> addresses = section.get(BridgeKeys.ADDRESS);
    int hops = section.get(BridgeKeys.HOPS);
    if (verbs) {
      String device = section.require(BridgeKeys.DEVICE);
      return new VerbsSpec(section.name(), device, addresses, List.of(), 0, hops);
    }
    return new WireSpec(
        section.name(),
        section.require(BridgeKeys.INTERFACE),
        section.get(BridgeKeys.NAMESPACE),
        addresses,
        List.of(),
        hops,
        section.get(BridgeKeys.TRAINS));
  }

  private static String namespace(FabricSpec fabric) {
    return fabric instanceof WireSpec wire ? wire.namespace() : "";
  }

  private static FabricSpec withUnicast(
      FabricSpec fabric, int side, @Nullable UnicastSettings unicast) {
    ProxyAddresses all = unicast == null ? ProxyAddresses.NONE : unicast.proxyAddresses();
    List<Gid> own = all.addressesIn(side);
    return switch (fabric) {
      case WireSpec wire -> wire.withProxyAddresses(own);
      case VerbsSpec verbs ->
          verbs.mapping(
              own,
              unicast == null || unicast.mapping() == null ? 0 : unicast.mapping().queuePairs());
    };
  }

  private List<Gid> peers() {
    Map<Gid, ConfigText.Section> peers = new LinkedHashMap<>();
    for (ConfigText.Section section : text.sections(BridgeKeys.PEER)) {
      putOnce(
          peers,
          section.parseName(section.name(), "an IP address of a host", BridgeKeys::hostAddress),
          section);
    }
    return List.copyOf(peers.keySet());
  }

  private static void putOnce(
      Map<Gid, ConfigText.Section> sections, Gid address, ConfigText.Section section) {
    ConfigText.Section before = sections.putIfAbsent(address, section);
    if (before != null) {
      throw section.fail(address + " is already defined in line " + before.number());
    }
  }

  private List<GroupSettings> groups(boolean redundant) {
    Map<Gid, ConfigText.Section> sections = new LinkedHashMap<>();
    List<GroupSettings> groups = new ArrayList<>();
    for (ConfigText.Section section : text.sections(BridgeKeys.GROUP)) {
      GroupSettings group = group(section);
      if (group.owner() != 0 && !redundant) {
        throw section.refuse(
            BridgeKeys.OWNER, "has no meaning without [redundancy] and its bridge-id");
      }
      putOnce(sections, group.address(), section);
      groups.add(group);
    }
    return List.copyOf(groups);
  }

  private static GroupSettings group(ConfigText.Section section) {
    String name = section.name();
    boolean bracket = name.startsWith("[");
    int colon = bracket ? name.indexOf("]:") + 1 : name.indexOf(':');
    boolean hasPort = colon > 0 && (bracket || name.lastIndexOf(':') == colon);
    String host = hasPort ? name.substring(0, colon) : name;
    int port =
        hasPort
            ? section.parseName(
                name.substring(colon + 1),
                "a port from 1 to " + BridgeKeys.MOST_PORT,
                BridgeConfigParser::port)
            : 0;
    boolean closed = bracket && host.endsWith("]");
    Gid address =
        section.parseName(
            closed ? host.substring(1, host.length() - 1) : host,
            "a multicast address, or ADDRESS:PORT",
            BridgeKeys::multicastAddress);
    MgidFormat mgid = section.get(BridgeKeys.MGID);
    if (!mgid.supports(address)) {
      throw section.has(BridgeKeys.MGID)
          ? section.refuse(BridgeKeys.MGID, "can't encode " + address)
          : section.fail("mgid = " + mgid.word() + " can't encode " + address);
    }
    return new GroupSettings(
        address,
        port,
        mgid,
        section.get(BridgeKeys.DIRECTION),
        section.get(BridgeKeys.TOS),
        section.get(BridgeKeys.OWNER),
        section.get(BridgeKeys.PGM),
        limit(section, BridgeKeys.GROUP_LIMIT));
  }

  private static int port(String text) {
    return (int) ConfigKey.within(Integer.parseInt(text), 1, BridgeKeys.MOST_PORT);
  }

  private static RateLimit limit(ConfigText.Section section, BridgeKeys.LimitKeys keys) {
    for (ConfigKey<?> key : List.of(keys.burst(), keys.queue(), keys.dropsOldest())) {
      if (section.has(key) && !section.has(keys.rate())) {
        throw section.refuse(key, "has no meaning without rate");
      }
    }
    return new RateLimit(
        section.get(keys.rate()),
        section.get(keys.burst()),
        section.get(keys.queue()),
        section.get(keys.dropsOldest()));
  }
}
