package io.heddle.bridge.config;

import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.unicast.ProxyAddress;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The {@code proxy} lines of a configuration, which map addresses of the bridge to hosts. */
final class ProxyLines {
  private final Map<ProxyAddress, ConfigLine> lines = new LinkedHashMap<>();
  private final List<Map<Gid, ConfigLine>> addresses =
      List.of(new LinkedHashMap<>(), new LinkedHashMap<>());
  private final List<Map<Gid, ConfigLine>> hosts =
      List.of(new LinkedHashMap<>(), new LinkedHashMap<>());

  /**
   * Parses a line.
   *
   * @param host parses an address, or throws {@link IllegalArgumentException}
   */
  void take(ConfigLine line, Function<String, Gid> host) {
    line.allow(List.of("for"));
    List<String> words = line.words("FABRIC", "ADDRESS");
    String fabric = words.getFirst();
    if (!fabric.equals("a") && !fabric.equals("b")) {
      throw line.fail("'" + fabric + "' isn't a fabric; the fabrics are a and b");
    }
    int side = fabric.equals("a") ? 0 : 1;
    String word = words.get(1);
    Gid address = line.parse("'" + word + "'", word, "an IP address of a host", host);
    String text = line.require("for");
    Gid far = line.parse("for=" + text, text, "an IP address of a host", host);
    ConfigLine before = addresses.get(side).putIfAbsent(address, line);
    if (before != null) {
      throw line.fail(
          "proxy " + fabric + " " + address + " is already defined in line " + before.number());
    }
    before = hosts.get(1 - side).putIfAbsent(far, line);
    if (before != null) {
      throw line.fail("for=" + far + " already has an address, in line " + before.number());
    }
    lines.put(new ProxyAddress(side, address, far), line);
  }

  boolean isEmpty() {
    return lines.isEmpty();
  }

  ConfigLine first() {
    return lines.values().iterator().next();
  }

  /**
   * Checks and returns all proxy addresses.
   *
   * @param prefixes prefixes of each fabric's hosts; an empty list if none is configured
   * @param oneNamespace whether both fabrics' interfaces are in the same network namespace
   */
  ProxyAddresses finish(List<List<LoopRules.Prefix>> prefixes, boolean oneNamespace) {
    lines.forEach((each, line) -> {
      int far = 1 - each.side();
      ConfigLine own = addresses.get(far).get(each.host());
      if (own != null) {
        throw line.fail(
            "for="
                + each.host()
                + " isn't a host but the bridge's own address, in line "
                + own.number());
      }
      if (oneNamespace && each.address().equals(each.host())) {
        throw line.fail(
            each.host()
                + " is the host's own address, and the system would keep what goes there; name a"
                + " fabric of kind wire in a namespace=, or another address");
      }
      List<LoopRules.Prefix> known = prefixes.get(far);
      if (!known.isEmpty() && known.stream().noneMatch(prefix -> prefix.contains(each.host()))) {
        throw line.fail(
            "for="
                + each.host()
                + " isn't a host of fabric "
                + (far == 0 ? "a" : "b")
                + ", which has prefix="
                + String.join(",", known.stream().map(LoopRules.Prefix::toString).toList()));
      }
    });
    return new ProxyAddresses(new ArrayList<>(lines.keySet()));
  }
}
