package io.heddle.bgp.flowspec.rule;

import org.jspecify.annotations.Nullable;

/**
 * Component type numbers of fields. All are registered by IANA except the queue pair's, which is a
 * guess.
 *
 * @param queuePair type number of Destination-QP. draft-lll-idr-flowspec-filter-qp assigns none;
 *     128 to 254 are for expert review
 */
public record ComponentTypes(int queuePair) {
  private static final FlowField[] REGISTERED =
      new FlowField[FlowField.FLOW_LABEL.registeredType() + 1];
  public static final ComponentTypes DEFAULT;

  static {
    for (FlowField field : FlowField.values()) {
      if (field.registeredType() > 0) {
        REGISTERED[field.registeredType()] = field;
      }
    }
    DEFAULT = new ComponentTypes(0x80);
  }

  /**
   * @throws IllegalArgumentException if the number belongs to another field
   */
  public ComponentTypes {
    if (queuePair < REGISTERED.length || queuePair > 254) {
      throw new IllegalArgumentException(
          "component type %s for Destination-QP isn't one of %s to 254"
              .formatted(queuePair, REGISTERED.length));
    }
  }

  /** Returns the field of a component type; null if the type is unknown. */
  public @Nullable FlowField field(int type) {
    if (type == queuePair) {
      return FlowField.QUEUE_PAIR;
    }
    return type > 0 && type < REGISTERED.length ? REGISTERED[type] : null;
  }

  public int type(FlowField field) {
    return field == FlowField.QUEUE_PAIR ? queuePair : field.registeredType();
  }
}
