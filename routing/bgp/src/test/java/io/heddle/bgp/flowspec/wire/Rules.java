package io.heddle.bgp.flowspec.wire;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.bgp.flowspec.rule.BitmaskMatch;
import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowComponent;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.rule.NumericMatch;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.flowspec.rule.ValueTerm;
import io.heddle.bgp.wire.FamilyCodec;
import io.heddle.bgp.wire.Prefix;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;

/** Rules and flows for tests. */
public final class Rules {
  public static final FlowspecCodec CODEC = new FlowspecCodec(ComponentTypes.DEFAULT);

  public static final FlowspecCodec IPV4_CODEC = new FlowspecCodec(ComponentTypes.DEFAULT, true);

  private Rules() {}

  /** Result of decoding: rules, malformed rules, and the reasons why these are malformed. */
  public static final class DecodedRules implements FamilyCodec.Sink<FlowRule> {
    public final List<FlowRule> rules = new ArrayList<>();
    public final List<FlowRule> malformed = new ArrayList<>();
    public final List<String> why = new ArrayList<>();

    @Override
    public void route(FlowRule route) {
      rules.add(route);
    }

    @Override
    public void malformed(FlowRule route, String reason) {
      malformed.add(route);
      why.add(reason);
    }
  }

  public static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  public static DecodedRules read(String hex) {
    return read(CODEC, hex);
  }

  static DecodedRules read(FlowspecCodec codec, String hex) {
    DecodedRules taken = new DecodedRules();
    assertNull(codec.decode(ByteBuffer.wrap(bytes(hex)), taken));
    return taken;
  }

  public static FlowRule queuePair(String destination, int number) {
    return FlowRule.queuePair(ComponentTypes.DEFAULT, null, Prefix.of(destination), number);
  }

  public static FlowKey flow(String source, String destination, int number) {
    return FlowKey.queuePair(Prefix.of(source), Prefix.of(destination), 49_152, number);
  }

  /**
   * Returns a random flow key. Its addresses and numbers are chosen from few values, so that rules
   * often match the same flows.
   */
  public static FlowKey anyFlow(RandomGenerator random) {
    boolean roce = random.nextInt(4) > 0;
    return new FlowKey(
        0xfd00_0000_0000_0000L | random.nextInt(4),
        random.nextInt(4),
        0xfd00_0000_0000_0000L | random.nextInt(4),
        random.nextInt(4),
        roce || random.nextBoolean() ? FlowKey.UDP : 6,
        49_152 + random.nextInt(3),
        roce ? FlowKey.ROCE_V2_PORT : 4_790 + random.nextInt(3),
        roce ? random.nextInt(5) : FlowKey.NONE);
  }

  public static FlowRule anyRule(RandomGenerator random) {
    List<FlowComponent> components = new ArrayList<>();
    while (components.isEmpty()) {
      for (FlowField field : FlowField.values()) {
        if (random.nextInt(3) == 0 && isOfAFlow(field)) {
          components.add(component(field, random));
        }
      }
    }
    return FlowRule.of(components);
  }

  private static boolean isOfAFlow(FlowField field) {
    return switch (field) {
      case DESTINATION, SOURCE, PROTOCOL, PORT, DESTINATION_PORT, SOURCE_PORT, QUEUE_PAIR -> true;
      case ICMP_TYPE, ICMP_CODE, TCP_FLAGS, LENGTH, DSCP, FRAGMENT, FLOW_LABEL -> false;
    };
  }

  static FlowComponent component(FlowField field, RandomGenerator random) {
    return switch (field.kind()) {
      case PREFIX -> {
        int length = List.of(0, 8, 63, 64, 127, 128, 128, 128).get(random.nextInt(8));
        int offset = length > 0 && random.nextInt(4) == 0 ? random.nextInt(length) : 0;
        yield new PrefixMatch(
            field, offset, length, 0xfd00_0000_0000_0000L | random.nextInt(4), random.nextInt(4));
      }
      case NUMERIC ->
          new NumericMatch(field, ComponentTypes.DEFAULT.type(field), terms(field, random));
      case BITMASK -> new BitmaskMatch(field, terms(field, random));
    };
  }

  private static List<ValueTerm> terms(FlowField field, RandomGenerator random) {
    List<ValueTerm> terms = new ArrayList<>();
    int most = random.nextInt(3);
    for (int i = 0; i <= most; i++) {
      int operator = random.nextInt(2) == 0 ? ValueTerm.EQUAL : random.nextInt(8);
      int width = 1 + random.nextInt(3);
      terms.add(
          new ValueTerm(
              operator
                  | width << 4
                  | (random.nextBoolean() ? ValueTerm.AND : 0)
                  | (i == most ? ValueTerm.END : 0),
              value(field, random)));
    }
    return terms;
  }

  private static long value(FlowField field, RandomGenerator random) {
    return switch (field) {
      case PROTOCOL -> random.nextBoolean() ? FlowKey.UDP : 6;
      case PORT, DESTINATION_PORT -> 4_790 + random.nextInt(3);
      case SOURCE_PORT -> 49_152 + random.nextInt(3);
      default -> random.nextInt(5);
    };
  }
}
