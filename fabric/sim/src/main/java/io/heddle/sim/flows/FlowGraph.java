package io.heddle.sim.flows;

import java.util.Arrays;

/**
 * Graph of flows and links, with the part of a flow's rate that each of its links carries. A use is
 * a pair of a flow and one of its links. The uses of a flow have the indexes from {@code
 * begin[flow]} to below {@code begin[flow + 1]}.
 */
final class FlowGraph {
  final double[] capacity;
  int[] begin = new int[2];
  int[] link = new int[64];
  double[] weight = new double[64];
  private int flows;

  /**
   * @param capacity capacity of each link, in any common unit
   */
  FlowGraph(double[] capacity) {
    this.capacity = capacity;
  }

  int flows() {
    return flows;
  }

  int links() {
    return capacity.length;
  }

  int uses() {
    return begin[flows];
  }

  /**
   * Adds a link to the current flow.
   *
   * @param part part of the flow's rate that the link carries
   */
  void use(int ofLink, double part) {
    int at = begin[flows + 1];
    if (at == link.length) {
      link = Arrays.copyOf(link, 2 * at);
      weight = Arrays.copyOf(weight, 2 * at);
    }
    link[at] = ofLink;
    weight[at] = part;
    begin[flows + 1]++;
  }

  /** Ends the current flow. The next call of {@link #use} begins another flow. */
  void endFlow() {
    flows++;
    if (flows + 1 == begin.length) {
      begin = Arrays.copyOf(begin, 2 * begin.length);
    }
    begin[flows + 1] = begin[flows];
  }
}
