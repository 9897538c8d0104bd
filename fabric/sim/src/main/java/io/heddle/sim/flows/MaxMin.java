package io.heddle.sim.flows;

import java.util.Arrays;
import java.util.PriorityQueue;

/**
 * Max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): all
 * flows grow equally until a link is full. The flows on that link then keep their rates, and the
 * other flows continue to grow. A flow's plane shares are its weights on the links, so a flow grows
 * on all its planes together.
 */
final class MaxMin {
  private static final double SAME = 1 + 1e-12;

  private record FillRate(int link, double rate) implements Comparable<FillRate> {
    @Override
    public int compareTo(FillRate other) {
      int order = Double.compare(rate, other.rate);
      return order != 0 ? order : Integer.compare(link, other.link);
    }
  }

  private MaxMin() {}

  /** Returns the rate of each flow; infinite for a flow that uses no link. */
  static double[] rates(FlowGraph graph) {
    double[] rates = new double[graph.flows()];
    Arrays.fill(rates, Double.POSITIVE_INFINITY);
    double[] left = graph.capacity.clone();
    double[] growing = new double[graph.links()];
    int[] users = new int[graph.links() + 1];
    for (int use = 0; use < graph.uses(); use++) {
      growing[graph.link[use]] += graph.weight[use];
      users[graph.link[use] + 1]++;
    }
    Arrays.parallelPrefix(users, Integer::sum);
    int[] flowOf = new int[graph.uses()];
    int[] next = Arrays.copyOf(users, graph.links());
    for (int flow = 0; flow < graph.flows(); flow++) {
      for (int use = graph.begin[flow]; use < graph.begin[flow + 1]; use++) {
        flowOf[next[graph.link[use]]++] = flow;
      }
    }
    PriorityQueue<FillRate> queue = new PriorityQueue<>();
    for (int link = 0; link < graph.links(); link++) {
      if (growing[link] > 0) {
        queue.add(new FillRate(link, left[link] / growing[link]));
      }
    }
    int fixed = 0;
    while (!queue.isEmpty() && fixed < graph.flows()) {
      FillRate first = queue.remove();
      int link = first.link();
      int still = 0;
      for (int at = users[link]; at < users[link + 1]; at++) {
        still += Double.isInfinite(rates[flowOf[at]]) ? 1 : 0;
      }
      if (still == 0) {
        continue;
      }
      /*
       * The link's entry in the queue may be outdated, and its fill rate higher now. If other links
       * have limited flows of this link, its remaining flows can have more of it.
       */
      double rate = Math.max(0, left[link]) / growing[link];
      if (rate > first.rate() * SAME) {
        queue.add(new FillRate(link, rate));
        continue;
      }
      for (int at = users[link]; at < users[link + 1]; at++) {
        int flow = flowOf[at];
        if (Double.isInfinite(rates[flow])) {
          rates[flow] = rate;
          fixed++;
          for (int use = graph.begin[flow]; use < graph.begin[flow + 1]; use++) {
            left[graph.link[use]] -= graph.weight[use] * rate;
            growing[graph.link[use]] -= graph.weight[use];
          }
        }
      }
    }
    return rates;
  }
}
