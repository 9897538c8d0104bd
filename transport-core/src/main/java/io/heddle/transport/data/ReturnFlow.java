package io.heddle.transport.data;

import io.heddle.spray.PlaneWeights;
import org.jspecify.annotations.Nullable;

/**
 * Choice of the sub-flow that a receiving end writes on. First choice is the sub-flow on which data
 * arrived last, since the data's acknowledgement takes the same path. If that sub-flow has no room,
 * planes are used in turn. A plane of weight 0 is skipped, since it probably doesn't reach the
 * sender. Owned by the holder of the {@link Baton}.
 */
public final class ReturnFlow {
  private final ConnectionParts parts;
  private final SubFlow[] flows;
  private int data;
  private int last;

  /**
   * @param flows the communicator's array itself, not a copy, since sub-flows in it are replaced
   */
  public ReturnFlow(ConnectionParts parts, SubFlow[] flows) {
    this.parts = parts;
    this.flows = flows;
  }

  /** Records that data arrived on this sub-flow. */
  public void dataArrivedOn(SubFlow flow) {
    data = flow.index;
  }

  /** Returns a sub-flow with room; null where there is none. */
  public @Nullable SubFlow withRoom() {
    PlaneWeights weights = parts.weights();
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
