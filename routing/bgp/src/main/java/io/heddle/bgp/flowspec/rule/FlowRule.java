package io.heddle.bgp.flowspec.rule;

import io.heddle.bgp.wire.Prefix;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rule of a flow specification: conditions that all have to match. As in BGP (RFC 8955 §4), its
 * address family and its bytes identify the rule, so two encodings of one condition are two rules.
 */
public final class FlowRule implements Comparable<FlowRule> {
  private final boolean ipv4;
  private final byte[] bytes;
  private final List<FlowComponent> components;

  private FlowRule(boolean ipv4, byte[] bytes, List<FlowComponent> components) {
    this.ipv4 = ipv4;
    this.bytes = bytes;
    this.components = List.copyOf(components);
  }

  /**
   * Creates a rule to announce, and sorts its components. The rule is an IPv4 rule if it has
   * addresses and all are IPv4.
   *
   * @throws IllegalArgumentException if there are no components, two components of one type, or
   *     more than 4095 bytes
   */
  public static FlowRule of(List<FlowComponent> components) {
    List<FlowComponent> ordered =
        components.stream().sorted(Comparator.comparingInt(FlowComponent::type)).toList();
    boolean ipv4 = isIpv4(ordered);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int last = 0;
    for (FlowComponent each : ordered) {
      if (each.type() == last) {
        throw new IllegalArgumentException("two components of type " + last);
      }
      last = each.type();
      if (ipv4 && each instanceof PrefixMatch match) {
        match.writeIpv4(out);
      } else {
        each.write(out);
      }
    }
    if (ordered.isEmpty() || out.size() > 0xfff) {
      throw new IllegalArgumentException(
          "a rule of %s components and %s bytes".formatted(ordered.size(), out.size()));
    }
    return new FlowRule(ipv4, out.toByteArray(), ordered);
  }

  private static boolean isIpv4(List<FlowComponent> components) {
    boolean all = true;
    boolean some = false;
    for (FlowComponent each : components) {
      if (each instanceof PrefixMatch match) {
        all &= match.isIpv4();
        some |= match.isIpv4();
      }
    }
    return all && some;
  }

  /**
   * Creates a received rule.
   *
   * @param ipv4 whether the rule is of the IPv4 family
   */
  public static FlowRule read(boolean ipv4, byte[] bytes, List<FlowComponent> components) {
    return new FlowRule(ipv4, bytes.clone(), components);
  }

  /**
   * Creates a received rule that can't be parsed. Its bytes identify the rule, which matches
   * nothing.
   */
  public static FlowRule malformed(boolean ipv4, byte[] bytes) {
    return new FlowRule(ipv4, bytes.clone(), List.of());
  }

  /**
   * Creates a rule for the packets of one queue pair.
   *
   * @param source sender of the packets; null for any
   * @param destination address at which the queue pair's number is unique
   */
  public static FlowRule queuePair(
      ComponentTypes types, @Nullable Prefix source, Prefix destination, int number) {
    List<FlowComponent> components = new ArrayList<>();
    components.add(PrefixMatch.of(FlowField.DESTINATION, destination));
    if (source != null) {
      components.add(PrefixMatch.of(FlowField.SOURCE, source));
    }
    components.add(NumericMatch.equal(types, FlowField.PROTOCOL, FlowKey.UDP, 1));
    components.add(NumericMatch.equal(types, FlowField.DESTINATION_PORT, FlowKey.ROCE_V2_PORT, 2));
    components.add(NumericMatch.equal(types, FlowField.QUEUE_PAIR, number, 4));
    return of(components);
  }

  /**
   * Returns whether the rule is of AFI 1. Such a rule matches only IPv4 flows; other rules match
   * only IPv6 flows.
   */
  public boolean isIpv4() {
    return ipv4;
  }

  /** Returns the encoded components, without the rule's length. */
  public byte[] bytes() {
    return bytes.clone();
  }

  public int size() {
    return bytes.length;
  }

  /** Returns the components in the order of their types; empty if the rule is malformed. */
  public List<FlowComponent> components() {
    return components;
  }

  public boolean isMalformed() {
    return components.isEmpty();
  }

  /** Returns the rule's component for a field; null if it has none. */
  public @Nullable FlowComponent component(FlowField field) {
    for (FlowComponent each : components) {
      if (each.field() == field) {
        return each;
      }
    }
    return null;
  }

  /**
   * Returns the destination prefix; null if the rule has no destination, or one whose bits don't
   * start at the address's first bit.
   */
  public @Nullable Prefix destination() {
    return component(FlowField.DESTINATION) instanceof PrefixMatch match && match.offset() == 0
        ? match.prefix()
        : null;
  }

  public boolean matches(FlowKey flow) {
    if (flow.isIpv4() != ipv4) {
      return false;
    }
    for (int i = 0; i < components.size(); i++) {
      if (!components.get(i).matches(flow)) {
        return false;
      }
    }
    return !components.isEmpty();
  }

  /**
   * Compares two rules by precedence (RFC 8955 §5.1). Returns a negative number if this rule has
   * precedence.
   */
  @Override
  public int compareTo(FlowRule other) {
    if (ipv4 != other.ipv4) {
      return Boolean.compare(ipv4, other.ipv4);
    }
    int shorter = Math.min(components.size(), other.components.size());
    for (int i = 0; i < shorter; i++) {
      FlowComponent ours = components.get(i);
      FlowComponent theirs = other.components.get(i);
      int order = Integer.compare(ours.type(), theirs.type());
      if (order == 0) {
        order = ours.precedence(theirs);
      }
      if (order != 0) {
        return order;
      }
    }
    int order = Integer.compare(other.components.size(), components.size());
    /*
     * Orders rules that differ only in padding or reserved bits by their bytes, since they are two
     * rules.
     */
    return order != 0 ? order : Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FlowRule that && ipv4 == that.ipv4 && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return 2 * Arrays.hashCode(bytes) + (ipv4 ? 1 : 0);
  }

  @Override
  public String toString() {
    return components.isEmpty()
        ? "malformed " + HexFormat.of().formatHex(bytes)
        : components.stream().map(Object::toString).collect(Collectors.joining(", "));
  }
}
