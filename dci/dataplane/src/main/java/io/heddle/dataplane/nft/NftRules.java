package io.heddle.dataplane.nft;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.addr.RocePorts;
import io.heddle.dataplane.Buckets;
import io.heddle.dataplane.DataPlane;
import io.heddle.dataplane.DataPlaneSettings;
import io.heddle.dataplane.FlowHash;
import java.net.Inet6Address;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Generator of the nftables scripts that create the table and its rules. */
final class NftRules {
  static final String TABLE = "heddle-gateway";

  /**
   * Name of a counter that identifies the build which created the table. A table of another build
   * is recreated.
   */
  static final String BUILD = "build-1";

  /** Script that removes the table, whether or not it exists. */
  static final String NONE = "add table inet %1$s\ndelete table inet %1$s\n".formatted(TABLE);

  static final int MOST_FLOWS = 65_536;
  static final int MOST_STEERS = 32_768;

  /**
   * Expression for the destination queue pair in the BTH, which follows the UDP header of 8 bytes.
   */
  private static final String QUEUE_PAIR = "@th,104,24";

  /** Address family, with the expressions that differ between the two families. */
  private enum Family {
    SIX("6", "ip6", "ip6 nexthdr", "ip6 nexthdr 44"),
    FOUR("4", "ip", "ip protocol", "ip frag-off & 0x3fff != 0");

    private final String suffix;
    private final String header;
    private final String protocol;
    private final String cut;

    /**
     * @param cut expression that matches a fragment, whose ports can't be read
     */
    Family(String suffix, String header, String protocol, String cut) {
      this.suffix = suffix;
      this.header = header;
      this.protocol = protocol;
      this.cut = cut;
    }

    static Family of(AddressPrefix prefix) {
      return prefix.address() instanceof Inet6Address ? SIX : FOUR;
    }

    String addresses() {
      return header + " saddr . " + header + " daddr";
    }
  }

  private NftRules() {}

  /**
   * Returns a script that creates the table's sets, maps and counters, which persist while rules
   * change.
   */
  static String state() {
    StringBuilder text = new StringBuilder();
    text.append(NONE);
    text.append(
        """
        table inet %1$s {
          counter %2$s { }
          counter none { }
          counter roce { }
          counter other { }
          counter steered { }
        """
            .formatted(TABLE, BUILD));
    for (Family family : Family.values()) {
      text.append(
          """
            set flows%1$s {
              typeof %2$s daddr . %3$s . %2$s saddr . udp sport
              size %4$s
              flags dynamic,timeout
              timeout 5m
              counter
            }
            map steers%1$s { typeof %2$s daddr . %3$s : meta mark; size %5$s; }
            map sourced%1$s { typeof %2$s daddr . %3$s . %2$s saddr : meta mark; size %5$s; }
          """
              .formatted(family.suffix, family.header, QUEUE_PAIR, MOST_FLOWS, MOST_STEERS));
    }
    for (int list = 1; list <= DataPlane.MOST_LISTS; list++) {
      text.append("  counter list%s { }\n".formatted(list));
    }
    return text.append("}\n").toString();
  }

  /** Returns a script that replaces all chains of the table. */
  static String chains(
      DataPlaneSettings settings,
      List<Integer> interfaces,
      Map<AddressPrefix, Integer> policies,
      Map<Integer, Buckets> buckets) {
    StringBuilder text = new StringBuilder();
    text.append("flush table inet ").append(TABLE).append("\ntable inet ").append(TABLE);
    text.append(" {\n");
    tally(text, settings);
    for (int policy : new TreeSet<>(policies.values())) {
      for (Family family : Family.values()) {
        if (policies.entrySet().stream()
            .anyMatch(each -> each.getValue() == policy && Family.of(each.getKey()) == family)) {
          classify(text, settings, family, policy, buckets.get(policy));
        }
      }
    }
    in(text, interfaces, policies);
    label(text, settings);
    return text.append("}\n").toString();
  }

  private static void tally(StringBuilder text, DataPlaneSettings settings) {
    text.append("  chain tally {\n    counter name meta mark map ");
    text.append(
        IntStream.rangeClosed(1, DataPlane.MOST_LISTS)
            .mapToObj(list -> mark(settings, list) + " : \"list" + list + '"')
            .collect(Collectors.joining(", ", "{ ", " }")));
    text.append("\n    accept\n  }\n");
  }

  private static String mark(DataPlaneSettings settings, int list) {
    return "0x" + Integer.toHexString(settings.mark(list));
  }

  private static void classify(
      StringBuilder text,
      DataPlaneSettings settings,
      Family family,
      int policy,
      @Nullable Buckets buckets) {
    String set =
        buckets == null || runs(settings, buckets).isEmpty()
            ? ""
            : " mod %s seed 0x%s map { %s }"
                .formatted(
                    FlowHash.BUCKETS,
                    Integer.toHexString(settings.seed()),
                    String.join(", ", runs(settings, buckets)));
    String key = family.header + " daddr . " + QUEUE_PAIR;
    String name = family.suffix + "-" + policy;
    List<String> roce =
        List.of(
            "update @flows%s { %s . %s saddr . udp sport }"
                .formatted(family.suffix, key, family.header),
            "counter name \"roce\"",
            "meta mark set %s . %s saddr map @sourced%s counter name \"steered\" goto tally"
                .formatted(key, family.header, family.suffix),
            "meta mark set %s map @steers%s counter name \"steered\" goto tally"
                .formatted(key, family.suffix),
            byHash(family.addresses() + " . udp sport . " + QUEUE_PAIR, set));
    List<String> ports =
        List.of(
            "counter name \"other\"",
            byHash(family.addresses() + " . th sport . th dport . " + family.protocol, set));
    List<String> bare =
        List.of(
            "counter name \"other\"", byHash(family.addresses() + " . " + family.protocol, set));
    chain(text, "roce" + name, roce);
    chain(text, "ports" + name, ports);
    chain(text, "bare" + name, bare);
    chain(
        text,
        "policy" + name,
        List.of(
            family.cut + " goto bare" + name,
            /*
             * The comparison with 0 holds for every queue pair. It fails only for a packet that is
             * too short to contain one.
             */
            family.protocol
                + " 17 udp dport "
                + RocePorts.STANDARD
                + " "
                + QUEUE_PAIR
                + " >= 0 goto roce"
                + name,
            family.protocol + " { 6, 17, 132 } goto ports" + name,
            "goto bare" + name));
  }

  private static String byHash(String fields, String set) {
    return set.isEmpty() ? "accept" : "meta mark set jhash " + fields + set + " goto tally";
  }

  /* Returns one map element for each range of adjacent buckets with the same list. */
  private static List<String> runs(DataPlaneSettings settings, Buckets buckets) {
    List<String> runs = new ArrayList<>();
    int from = 0;
    for (int bucket = 1; bucket <= FlowHash.BUCKETS; bucket++) {
      if (bucket == FlowHash.BUCKETS || buckets.list(bucket) != buckets.list(from)) {
        int list = buckets.list(from);
        if (list != 0) {
          String range = from == bucket - 1 ? "" + from : from + "-" + (bucket - 1);
          runs.add(range + " : " + mark(settings, list));
        }
        from = bucket;
      }
    }
    return runs;
  }

  private static void in(
      StringBuilder text, List<Integer> interfaces, Map<AddressPrefix, Integer> policies) {
    List<String> rules = new ArrayList<>();
    rules.add(
        interfaces.isEmpty()
            ? "accept"
            : interfaces.stream()
                .map(String::valueOf)
                .collect(Collectors.joining(", ", "iif != { ", " } accept")));
    policies.entrySet().stream()
        .sorted(
            Comparator.comparingInt(
                    (Map.Entry<AddressPrefix, Integer> each) -> -each.getKey().lengthBits())
                .thenComparing(each -> AddressText.of(each.getKey().address())))
        .forEach(each -> {
          Family family = Family.of(each.getKey());
          rules.add(
              "%s daddr %s/%s goto policy%s-%s"
                  .formatted(
                      family.header,
                      AddressText.of(each.getKey().address()),
                      each.getKey().lengthBits(),
                      family.suffix,
                      each.getValue()));
        });
    rules.add("counter name \"none\"");
    rules.addFirst("type filter hook prerouting priority -150");
    chain(text, "in", rules);
  }

  /*
   * Appends the chain that writes the outer flow label of packets that this gateway has
   * encapsulated. To a rule, the transport header (@th) of such a packet is the payload of the
   * outer headers: the inner packet. Two bytes of the label are written (@nh,16,16); its upper four
   * bits are 0 already. Outer headers are matched by raw bytes, since nft 1.0.6 aborts when it
   * lists rules that name their fields.
   */
  private static void label(StringBuilder text, DataPlaneSettings settings) {
    List<String> rules = new ArrayList<>();
    rules.add("type filter hook postrouting priority -150");
    rules.add(
        IntStream.rangeClosed(1, DataPlane.MOST_LISTS)
            .mapToObj(list -> mark(settings, list))
            .collect(Collectors.joining(", ", "meta mark != { ", " } accept")));
    String six = "meta nfproto ipv6 @nh,48,8 { 41, 43 } @th,0,4 6 ";
    String sixes = "@th,64,128 . @th,192,128";
    rules.add(
        labelled(
            settings,
            six + "@th,48,8 17 @th,336,16 " + RocePorts.STANDARD,
            sixes + " . @th,320,16 . @th,424,24"));
    rules.add(
        labelled(
            settings,
            six + "@th,48,8 { 6, 17, 132 }",
            sixes + " . @th,320,16 . @th,336,16 . @th,48,8"));
    rules.add(labelled(settings, six, sixes + " . @th,48,8"));
    String four = "meta nfproto ipv6 @nh,48,8 { 4, 43 } @th,0,4 4 ";
    String whole = four + "@th,4,4 5 @th,50,14 0 ";
    String fours = "@th,96,32 . @th,128,32";
    rules.add(
        labelled(
            settings,
            whole + "@th,72,8 17 @th,176,16 " + RocePorts.STANDARD,
            fours + " . @th,160,16 . @th,264,24"));
    rules.add(
        labelled(
            settings,
            whole + "@th,72,8 { 6, 17, 132 }",
            fours + " . @th,160,16 . @th,176,16 . @th,72,8"));
    rules.add(labelled(settings, four, fours + " . @th,72,8"));
    chain(text, "label", rules);
  }

  private static String labelled(DataPlaneSettings settings, String which, String fields) {
    return "%s @nh,16,16 set jhash %s mod 4294967295 seed 0x%s accept"
        .formatted(which, fields, Integer.toHexString(NftHash.labelSeed(settings.seed())));
  }

  private static void chain(StringBuilder text, String name, List<String> rules) {
    text.append("  chain ").append(name).append(" {\n");
    rules.forEach(each -> text.append("    ").append(each).append('\n'));
    text.append("  }\n");
  }
}
