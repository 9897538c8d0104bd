package io.heddle.flowspec.rule;

import java.io.ByteArrayOutputStream;

/**
 * One condition of a rule: its type and its value, as on the wire. All of a rule's conditions have
 * to hold.
 */
public sealed interface FlowComponent permits PrefixMatch, NumericMatch, BitmaskMatch {
  FlowField field();

  /** The number that stands for the field. */
  int type();

  /** Whether the flow fulfils it; false too where the flow's field isn't known. */
  boolean matches(FlowKey flow);

  /** Whether a flow's packets all have this field alike, so that a flow can fulfil it. */
  boolean canBeToldOfAFlow();

  /** Type and value. */
  void write(ByteArrayOutputStream out);

  /**
   * Which of two components of one type comes first: below 0 for this one (RFC 8955 §5.1, RFC 8956
   * §4).
   */
  int precedence(FlowComponent other);
}
