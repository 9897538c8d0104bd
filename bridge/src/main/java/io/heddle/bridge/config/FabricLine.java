package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.platform.NearestName;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** Parser of a {@code fabric} line, except for its rate limit and its hosts' prefixes. */
final class FabricLine {
  private static final List<String> KINDS = List.of("wire", "verbs");
  private static final List<String> WIRE_KEYS =
      List.of(
          "interface",
          "namespace",
          "address",
          "prefix",
          "hops",
          "trains",
          "rate",
          "burst",
          "queue",
          "policy");
  private static final List<String> VERBS_KEYS =
      List.of("device", "address", "prefix", "hops", "rate", "burst", "queue", "policy");
  private static final int MOST_HOPS = 255;

  private FabricLine() {}

  /**
   * @param host parses a host's address; throws {@link IllegalArgumentException} for any other text
   */
  static FabricSpec parse(ConfigLine line, String name, String kind, Function<String, Gid> host) {
    boolean wire = kind.equals("wire");
    if (!KINDS.contains(kind)) {
      throw line.fail(
          "'"
              + kind
              + "' isn't a kind of fabric; the kinds are wire and verbs"
              + NearestName.suggestion(kind, KINDS));
    }
    line.allow(wire ? WIRE_KEYS : VERBS_KEYS);
    String end = line.require(wire ? "interface" : "device");
    List<Gid> addresses = new ArrayList<>();
    for (String each : listOf(line, "address")) {
      addresses.add(line.parse("address=" + each, each, "an IP address", host));
    }
    int hops = line.number("hops", 1, 1, MOST_HOPS);
    if (!wire) {
      return new VerbsSpec(name, end, List.copyOf(addresses), List.of(), 0, hops);
    }
    String namespace = line.get("namespace", "", "a name of ip netns", FabricLine::namespace);
    boolean trains = line.flag("trains", false);
    return new WireSpec(name, end, namespace, addresses, List.of(), hops, trains);
  }

  /** Returns the interface or device of a fabric in configuration syntax. */
  static String end(FabricSpec spec) {
    return (spec instanceof WireSpec ? "interface=" : "device=") + spec.end();
  }

  private static String namespace(String text) {
    if (text.isEmpty() || text.contains("/") || text.startsWith(".")) {
      throw new IllegalArgumentException("no name of a file");
    }
    return text;
  }

  /** Returns the elements of a key's comma-separated value; an empty list if the key is absent. */
  static List<String> listOf(ConfigLine line, String key) {
    String text = line.text(key);
    return text == null ? List.of() : Stream.of(text.split(",", -1)).toList();
  }
}
