package io.heddle.bgp.flowspec.rule;

import java.io.ByteArrayOutputStream;
import java.util.List;

/**
 * Comparison of bits of the TCP flags or the fragment field (RFC 8955 §4.2.1.2). These fields
 * differ between the packets of a flow, so no flow matches. Rules with this component are only
 * parsed, ordered and shown.
 *
 * @param terms terms of the comparison; only the last has the end bit
 */
public record BitmaskMatch(FlowField field, List<ValueTerm> terms) implements FlowComponent {
  /**
   * @throws IllegalArgumentException if the field isn't a bitmask, or the last term has no end bit
   */
  public BitmaskMatch {
    terms = List.copyOf(terms);
    ValueTerm.check(terms);
    if (field.kind() != FlowField.Kind.BITMASK) {
      throw new IllegalArgumentException(field + " isn't compared as bits");
    }
  }

  @Override
  public int type() {
    return field.registeredType();
  }

  /** Returns whether these bits match. */
  public boolean holds(long bits) {
    return ValueTerm.hold(terms, bits, false);
  }

  @Override
  public boolean matches(FlowKey flow) {
    return false;
  }

  @Override
  public boolean isConstantPerFlow() {
    return false;
  }

  @Override
  public void write(ByteArrayOutputStream out) {
    out.write(type());
    ValueTerm.write(terms, out);
  }

  @Override
  public int precedence(FlowComponent other) {
    return ValueTerm.precedence(terms, ((BitmaskMatch) other).terms);
  }

  @Override
  public String toString() {
    return field.text() + " " + ValueTerm.text(terms, false);
  }
}
