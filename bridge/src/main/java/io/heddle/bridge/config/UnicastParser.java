package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.unicast.ProxyAddress;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.QueuePairMapping;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigText;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parser of {@code [unicast]} and of the {@code [proxy]} sections, which map addresses of the
 * bridge to hosts.
 */
final class UnicastParser {
  private static final List<ConfigKey<?>> MAPPED_KEYS =
      List.of(BridgeKeys.QUEUE_PAIRS, BridgeKeys.FIX_IMMEDIATE, BridgeKeys.PORTS);

  private final Map<ProxyAddress, ConfigText.Section> proxies = new LinkedHashMap<>();
  private final List<Map<Gid, ConfigText.Section>> addresses =
      List.of(new LinkedHashMap<>(), new LinkedHashMap<>());
  private final List<Map<Gid, ConfigText.Section>> hosts =
      List.of(new LinkedHashMap<>(), new LinkedHashMap<>());

  /**
   * Parses the sections.
   *
   * @param fabrics fabric a, then fabric b
   * @param prefixes prefixes of each fabric's hosts; an empty list if none is configured
   * @param oneNamespace whether both fabrics' interfaces are in the same network namespace
   * @return null if the file has no {@code [unicast]}
   */
  @Nullable UnicastSettings parse(
      ConfigText text,
      List<FabricSpec> fabrics,
      List<List<LoopRules.Prefix>> prefixes,
      boolean oneNamespace) {
    List<ConfigText.Section> sections = text.sections(BridgeKeys.UNICAST);
    UnicastSettings settings = sections.isEmpty() ? null : settings(sections.getFirst(), fabrics);
    text.sections(BridgeKeys.PROXY).forEach(this::takeProxy);
    ProxyAddresses all = proxyAddresses(prefixes, oneNamespace);
    if (!proxies.isEmpty() && (settings == null || settings.isTransparent())) {
      throw proxies
          .values()
          .iterator()
          .next()
          .fail("a proxy has no meaning without [unicast] and addresses = proxied");
    }
    return settings == null
        ? null
        : new UnicastSettings(
            settings.trafficClass(), settings.addresses(), all, settings.mapping());
  }

  private static UnicastSettings settings(ConfigText.Section section, List<FabricSpec> fabrics) {
    boolean maps = section.get(BridgeKeys.MAPPED);
    Addresses addresses = section.get(BridgeKeys.ADDRESSES);
    if (maps && addresses == Addresses.TRANSPARENT) {
      throw section.refuse(
          BridgeKeys.MAPPED,
          "needs addresses = proxied, since a port of libibverbs sends from addresses of its"
              + " interface alone; to keep a host's own address, repeat it: for = HOST under"
              + " [proxy a HOST]");
    }
    QueuePairMapping mapping = maps ? mapping(section) : refuseKeys(section);
    for (FabricSpec each : fabrics) {
      if (!maps && each instanceof VerbsSpec) {
        throw section.fail(
            "mode = same isn't supported on a fabric of kind verbs, and fabric "
                + each.name()
                + " is one; set mode = mapped and addresses = proxied");
      }
    }
    if (maps && fabrics.stream().noneMatch(VerbsSpec.class::isInstance)) {
      throw section.refuse(
          BridgeKeys.MAPPED,
          "needs a fabric of kind verbs, and both are of kind wire; set mode = same");
    }
    return new UnicastSettings(
        section.get(BridgeKeys.UNICAST_TOS), addresses, ProxyAddresses.NONE, mapping);
  }

  private static @Nullable QueuePairMapping refuseKeys(ConfigText.Section section) {
    for (ConfigKey<?> key : MAPPED_KEYS) {
      if (section.has(key)) {
        throw section.refuse(key, "has no meaning without mode = mapped");
      }
    }
    return null;
  }

  private static QueuePairMapping mapping(ConfigText.Section section) {
    List<Integer> ports = section.get(BridgeKeys.PORTS);
    if (ports.size() > QueuePairMapping.MOST_PORTS) {
      throw section.refuse(
          BridgeKeys.PORTS, "has more than " + QueuePairMapping.MOST_PORTS + " ports");
    }
    return new QueuePairMapping(
        section.get(BridgeKeys.QUEUE_PAIRS), section.get(BridgeKeys.FIX_IMMEDIATE), ports);
  }

  private void takeProxy(ConfigText.Section section) {
    int side = section.name().startsWith("a") ? 0 : 1;
    Gid address =
        section.parseName(
            section.name().substring(1).strip(),
            "an IP address of a host",
            BridgeKeys::hostAddress);
    Gid host = section.require(BridgeKeys.FOR);
    ConfigText.Section before = addresses.get(side).putIfAbsent(address, section);
    if (before != null) {
      throw section.fail(section.title() + " is already defined in line " + before.number());
    }
    before = hosts.get(1 - side).putIfAbsent(host, section);
    if (before != null) {
      throw section.refuse(BridgeKeys.FOR, "already has an address, in line " + before.number());
    }
    proxies.put(new ProxyAddress(side, address, host), section);
  }

  private ProxyAddresses proxyAddresses(
      List<List<LoopRules.Prefix>> prefixes, boolean oneNamespace) {
    proxies.forEach((each, section) -> {
      int far = 1 - each.side();
      ConfigText.Section own = addresses.get(far).get(each.host());
      if (own != null) {
        throw section.refuse(
            BridgeKeys.FOR, "isn't a host but the bridge's own address, in line " + own.number());
      }
      if (oneNamespace && each.address().equals(each.host())) {
        throw section.refuse(
            BridgeKeys.FOR,
            "is the host's own address, and the system would keep what goes there; give a fabric"
                + " of kind wire a namespace, or name another address");
      }
      List<LoopRules.Prefix> known = prefixes.get(far);
      if (!known.isEmpty() && known.stream().noneMatch(prefix -> prefix.contains(each.host()))) {
        throw section.refuse(
            BridgeKeys.FOR,
            "isn't a host of fabric "
                + (far == 0 ? "a" : "b")
                + ", which has prefix = "
                + String.join(", ", known.stream().map(LoopRules.Prefix::toString).toList()));
      }
    });
    return new ProxyAddresses(new ArrayList<>(proxies.keySet()));
  }
}
