package io.heddle.transport.data;

import io.heddle.spray.PlaneWeights;
import org.jspecify.annotations.Nullable;

/**
 * The sub-flow that a receiving end writes on: the one that data came on last, since its
 * acknowledgement goes the same way; where that one has no room, planes in turn. A plane that
 * weighs nothing doesn't reach the sender, as far as we know. Owned by whoever has the {@link
 * Baton}.
 */
final class ReturnFlow {
  private final ConnectionParts path;
  private final SubFlow[] flows;
  private int data;
  private int last;

  /**
   * @param flows of the connection, as they are at any time
   */
  ReturnFlow(ConnectionParts path, SubFlow[] flows) {
    this.path = path;
    this.flows = flows;
  }

  /** Data came over this sub-flow. */
  void dataArrivedOn(SubFlow flow) {
    data = flow.index;
  }

  /** Null where none has room. */
  @Nullable SubFlow withRoom() {
    PlaneWeights weights = path.weights();
    if (mayWrite(data, weights)) {
      return flows[data];
    }
    for (int i = 0; i < flows.length; i++) {
      last = last + 1 == flows.length ? 0 : last + 1;
      if (mayWrite(last, weights)) {
        return flows[last];
      }
    }
    return null;
  }

  private boolean mayWrite(int flow, PlaneWeights weights) {
    return weights.weight(flow % weights.planes()) > 0 && flows[flow].hasRoom();
  }
}
