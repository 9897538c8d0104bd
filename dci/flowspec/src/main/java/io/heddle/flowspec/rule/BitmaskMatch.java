package io.heddle.flowspec.rule;

import java.io.ByteArrayOutputStream;
import java.util.List;

/**
 * Comparisons with bits (RFC 8955 §4.2.1.2). They look at single packets, so no flow fulfils them;
 * rules that have one are read, ordered and shown.
 *
 * @param terms the last of them ends the list
 */
public record BitmaskMatch(FlowField field, List<ValueTerm> terms) implements FlowComponent {
  /**
   * @throws IllegalArgumentException where the field is compared otherwise, or the list doesn't end
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

  /** Whether these bits fulfil it. */
  public boolean holds(long bits) {
    return ValueTerm.hold(terms, bits, false);
  }

  @Override
  public boolean matches(FlowKey flow) {
    return false;
  }

  @Override
  public boolean canBeToldOfAFlow() {
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
