package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.QueuePairMapping;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.platform.HeddleException;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parser of a {@code unicast} line. */
final class UnicastLine {
  private static final List<String> MAPPED_KEYS = List.of("queue-pairs", "fix-immediate", "ports");
  private static final List<String> KEYS =
      List.of("mode", "addresses", "tos", "queue-pairs", "fix-immediate", "ports");
  private static final List<String> MODES =
      List.of(UnicastSettings.SAME_NUMBERS, QueuePairMapping.WORD);
  private static final int MOST_PORT = 65_535;

  private UnicastLine() {}

  static UnicastSettings parse(ConfigLine line) {
    line.allow(KEYS);
    line.words();
    String mode =
        line.choice(
            "mode",
            UnicastSettings.SAME_NUMBERS,
            MODES,
            text -> {
              if (!MODES.contains(text)) {
                throw new IllegalArgumentException("no mode");
              }
              return text;
            });
    boolean maps = mode.equals(QueuePairMapping.WORD);
    Addresses addresses =
        line.choice("addresses", Addresses.TRANSPARENT, Addresses.words(), Addresses::named);
    if (maps && addresses == Addresses.TRANSPARENT) {
      throw line.fail(
          "mode=mapped needs addresses=proxied, since a port of libibverbs sends from addresses of"
              + " its interface alone; to keep a host's own address, repeat it: proxy a HOST"
              + " for=HOST");
    }
    int trafficClass = line.number("tos", 0, 0, 255);
    return new UnicastSettings(
        trafficClass, addresses, ProxyAddresses.NONE, maps ? mapping(line) : refuseKeys(line));
  }

  private static @Nullable QueuePairMapping refuseKeys(ConfigLine line) {
    for (String key : MAPPED_KEYS) {
      if (line.text(key) != null) {
        throw line.fail(key + "= has no meaning without mode=mapped");
      }
    }
    return null;
  }

  private static QueuePairMapping mapping(ConfigLine line) {
    int most = QueuePairMapping.MOST_QUEUE_PAIRS;
    int queuePairs = line.number("queue-pairs", QueuePairMapping.QUEUE_PAIRS, 1, most);
    boolean fixes = line.flag("fix-immediate", true);
    Set<Integer> ports = new LinkedHashSet<>();
    for (String each : FabricLine.listOf(line, "ports")) {
      ports.addAll(
          line.parse(
              "ports=" + each, each, "a port or FIRST-LAST, 1 to 65535", UnicastLine::range));
      if (ports.size() > QueuePairMapping.MOST_PORTS) {
        throw line.fail("ports= has more than " + QueuePairMapping.MOST_PORTS + " ports");
      }
    }
    return new QueuePairMapping(queuePairs, fixes, List.copyOf(ports));
  }

  private static Set<Integer> range(String text) {
    int dash = text.indexOf('-');
    int first = Integer.parseInt(dash < 0 ? text : text.substring(0, dash));
    int last = dash < 0 ? first : Integer.parseInt(text.substring(dash + 1));
    if (first < 1 || last > MOST_PORT || first > last) {
      throw new IllegalArgumentException("out of range");
    }
    Set<Integer> ports = new LinkedHashSet<>();
    for (int port = first; port <= last; port++) {
      ports.add(port);
    }
    return ports;
  }

  /**
   * Checks that the kinds of the fabrics allow the configured mapping of queue pair numbers.
   *
   * @param file path of the configuration, for error messages
   */
  static void refuseKinds(String file, UnicastSettings settings, Collection<FabricSpec> fabrics) {
    String verbs = "";
    int count = 0;
    for (FabricSpec each : fabrics) {
      if (each instanceof VerbsSpec) {
        verbs = each.name();
        count++;
      }
    }
    if (settings.mapping() == null && count > 0) {
      throw new HeddleException(
          file
              + ": unicast mode=same isn't supported on a fabric of kind verbs, and fabric "
              + verbs
              + " is one; set mode=mapped"
              + " addresses=proxied");
    }
    if (settings.mapping() != null && count == 0) {
      throw new HeddleException(
          file
              + ": unicast mode=mapped needs a fabric of kind verbs, and both are of kind wire; set"
              + " mode=same");
    }
  }
}
