package io.heddle.bgp.flowspec.rule;

import java.io.ByteArrayOutputStream;
import java.util.List;

/**
 * Comparison of a field with numbers (RFC 8955 §4.2.1.1).
 *
 * @param type component type of the field
 * @param terms terms of the comparison; only the last has the end bit
 */
public record NumericMatch(FlowField field, int type, List<ValueTerm> terms)
    implements FlowComponent {
  private static final long QUEUE_PAIR_BITS = FlowKey.MOST_QUEUE_PAIR;

  /**
   * @throws IllegalArgumentException if the field isn't numeric, or the last term has no end bit
   */
  public NumericMatch {
    terms = List.copyOf(terms);
    ValueTerm.check(terms);
    if (field.kind() != FlowField.Kind.NUMERIC) {
      throw new IllegalArgumentException(field + " isn't compared as a number");
    }
  }

  /** Returns a match of one number. */
  public static NumericMatch equal(ComponentTypes types, FlowField field, long value, int bytes) {
    return new NumericMatch(field, types.type(field), List.of(ValueTerm.equal(value, bytes)));
  }

  /**
   * Returns the only number that matches; −1 if the comparison isn't a single test for equality.
   */
  public long onlyValue() {
    ValueTerm first = terms.getFirst();
    int comparison = ValueTerm.LESS | ValueTerm.GREATER | ValueTerm.EQUAL;
    if (terms.size() > 1 || (first.operator() & comparison) != ValueTerm.EQUAL) {
      return -1;
    }
    return first.value();
  }

  @Override
  public boolean matches(FlowKey flow) {
    return switch (field) {
      case PROTOCOL -> holds(flow.protocol());
      case PORT -> holds(flow.sourcePort()) || holds(flow.destinationPort());
      case SOURCE_PORT -> holds(flow.sourcePort());
      case DESTINATION_PORT -> holds(flow.destinationPort());
      case QUEUE_PAIR -> flow.isRoce() && holds(flow.queuePair() & QUEUE_PAIR_BITS);
      case DESTINATION, SOURCE -> false;
      case ICMP_TYPE, ICMP_CODE, TCP_FLAGS, LENGTH, DSCP, FRAGMENT, FLOW_LABEL -> false;
    };
  }

  private boolean holds(long value) {
    return value >= 0 && ValueTerm.hold(terms, value, true);
  }

  @Override
  public boolean isConstantPerFlow() {
    return switch (field) {
      case PROTOCOL, PORT, SOURCE_PORT, DESTINATION_PORT, QUEUE_PAIR -> true;
      case DESTINATION, SOURCE -> true;
      case ICMP_TYPE, ICMP_CODE, TCP_FLAGS, LENGTH, DSCP, FRAGMENT, FLOW_LABEL -> false;
    };
  }

  @Override
  public void write(ByteArrayOutputStream out) {
    out.write(type);
    ValueTerm.write(terms, out);
  }

  @Override
  public int precedence(FlowComponent other) {
    return ValueTerm.precedence(terms, ((NumericMatch) other).terms);
  }

  @Override
  public String toString() {
    return field.text() + " " + ValueTerm.text(terms, true);
  }
}
