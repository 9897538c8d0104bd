package io.heddle.bgp.flowspec.rule;

import java.io.ByteArrayOutputStream;

/**
 * Condition of a rule: type and value, as on the wire. A flow matches a rule if it matches all its
 * conditions.
 */
public sealed interface FlowComponent permits PrefixMatch, NumericMatch, BitmaskMatch {
  FlowField field();

  /** Returns the component type. */
  int type();

  /** Returns whether the flow matches; false if the flow key doesn't have the field. */
  boolean matches(FlowKey flow);

  /** Returns whether the field is equal in all packets of a flow. Otherwise no flow can match. */
  boolean isConstantPerFlow();

  /** Writes type and value. */
  void write(ByteArrayOutputStream out);

  /**
   * Compares two components of one type. Returns a negative number if this component has precedence
   * (RFC 8955 §5.1, RFC 8956 §4).
   */
  int precedence(FlowComponent other);
}
