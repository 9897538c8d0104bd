package io.heddle.flowspec.rule;

import java.io.ByteArrayOutputStream;

/**
 * One condition of a rule: its type and its value, as on the wire. All conditions of a rule have to
 * match.
 */
public sealed interface FlowComponent permits PrefixMatch, NumericMatch, BitmaskMatch {
  FlowField field();

  /** Returns the component type. */
  int type();

  /** Returns whether the flow matches; false if the flow's field is unknown. */
  boolean matches(FlowKey flow);

  /** Returns whether this field is the same in all packets of a flow, so that a flow can match. */
  boolean isConstantPerFlow();

  /** Writes type and value. */
  void write(ByteArrayOutputStream out);

  /**
   * Compares two components of one type: below 0 if this one has precedence (RFC 8955 §5.1, RFC
   * 8956 §4).
   */
  int precedence(FlowComponent other);
}
