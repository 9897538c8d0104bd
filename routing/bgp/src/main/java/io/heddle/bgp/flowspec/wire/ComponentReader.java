package io.heddle.bgp.flowspec.wire;

import io.heddle.bgp.flowspec.rule.BitmaskMatch;
import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowComponent;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.NumericMatch;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.flowspec.rule.ValueTerm;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parser of a rule's components. Used by one thread. */
final class ComponentReader {
  private final ComponentTypes types;
  private final boolean ipv4;
  private List<FlowComponent> components = List.of();
  private byte[] bytes = {};
  private int at;

  ComponentReader(ComponentTypes types, boolean ipv4) {
    this.types = types;
    this.ipv4 = ipv4;
  }

  /**
   * Parses a rule. Returns the reason why it is malformed; null if {@link #components} now has its
   * components.
   */
  @Nullable String read(byte[] rule) {
    bytes = rule;
    at = 0;
    components = new ArrayList<>();
    int last = 0;
    while (at < bytes.length) {
      int type = bytes[at++] & 0xff;
      FlowField field = types.field(type);
      if (field == null || ipv4 && field == FlowField.FLOW_LABEL) {
        return "component type " + type + " is unknown";
      }
      if (type <= last) {
        return "component type " + type + " follows type " + last;
      }
      last = type;
      String why =
          field.kind() != FlowField.Kind.PREFIX
              ? terms(field, type)
              : ipv4 ? ipv4Prefix(field) : prefix(field);
      if (why != null) {
        return why;
      }
    }
    return components.isEmpty() ? "a rule without components" : null;
  }

  List<FlowComponent> components() {
    return components;
  }

  private @Nullable String prefix(FlowField field) {
    if (bytes.length - at < 2) {
      return "a " + field.text() + " component ends before its offset";
    }
    int length = bytes[at++] & 0xff;
    int offset = bytes[at++] & 0xff;
    if (!PrefixMatch.isPossible(offset, length)) {
      return "a " + field.text() + " component has bits from " + offset + " to " + length;
    }
    int size = PrefixMatch.patternBytes(offset, length);
    if (size > bytes.length - at) {
      return "a " + field.text() + " component of " + size + " bytes runs past the rule's end";
    }
    long high = 0;
    long low = 0;
    /*
     * Copies the octets to their place after the offset. PrefixMatch clears the bits after the
     * length.
     */
    for (int i = 0; i < size; i++) {
      long octet = (bytes[at++] & 0xffL) << 56;
      int bit = offset + 8 * i;
      if (bit < 64) {
        high |= octet >>> bit;
        low |= bit > 56 ? octet << 64 - bit : 0;
      } else {
        low |= octet >>> bit - 64;
      }
    }
    components.add(new PrefixMatch(field, offset, length, high, low));
    return null;
  }

  /* Parses an IPv4 prefix, which has no offset (RFC 8955 §4.2.2.1). */
  private @Nullable String ipv4Prefix(FlowField field) {
    if (at >= bytes.length) {
      return "a " + field.text() + " component ends before its length";
    }
    int length = bytes[at++] & 0xff;
    if (length > Integer.SIZE) {
      return "a " + field.text() + " component has " + length + " bits of an IPv4 address";
    }
    int size = PrefixMatch.patternBytes(0, length);
    if (size > bytes.length - at) {
      return "a " + field.text() + " component of " + size + " bytes runs past the rule's end";
    }
    int address = 0;
    for (int i = 0; i < size; i++) {
      address |= (bytes[at++] & 0xff) << 24 - 8 * i;
    }
    components.add(PrefixMatch.ofIpv4(field, address, length));
    return null;
  }

  private @Nullable String terms(FlowField field, int type) {
    List<ValueTerm> terms = new ArrayList<>();
    boolean more = true;
    while (more) {
      if (at >= bytes.length) {
        return "the list of a " + field.text() + " component doesn't end";
      }
      int operator = bytes[at++] & 0xff;
      int size = ValueTerm.bytes(operator);
      if (size > bytes.length - at) {
        return "a value of " + size + " bytes runs past the rule's end";
      }
      long value = 0;
      for (int i = 0; i < size; i++) {
        value = value << 8 | bytes[at++] & 0xff;
      }
      ValueTerm term = new ValueTerm(operator, value);
      terms.add(term);
      more = !term.isEnd();
    }
    components.add(
        field.kind() == FlowField.Kind.NUMERIC
            ? new NumericMatch(field, type, terms)
            : new BitmaskMatch(field, terms));
    return null;
  }
}
