package io.heddle.sim.flows;

import io.heddle.sim.links.SplitMix;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Classes of equivalent flows, which have the same rate, so that only one flow of each class needs
 * to be computed. Flows are equivalent if they use equivalent links with equal weights. Links are
 * equivalent if they have equal capacity, and equivalent flows use them with equal weights. The
 * classes are found by refining colours until their number is stable (an equitable partition of
 * flows and links).
 */
final class SymmetryClasses {
  private final int[] classOfFlow;
  private final FlowGraph quotient;

  private SymmetryClasses(int[] classOfFlow, FlowGraph quotient) {
    this.classOfFlow = classOfFlow;
    this.quotient = quotient;
  }

  static SymmetryClasses of(FlowGraph graph) {
    long[] flows = new long[graph.flows()];
    long[] links = new long[graph.links()];
    for (int link = 0; link < links.length; link++) {
      links[link] = SplitMix.of(Double.doubleToLongBits(graph.capacity[link]));
    }
    for (int before = -1, now = 0; now > before; ) {
      before = now;
      long[] sums = new long[links.length];
      for (int flow = 0; flow < flows.length; flow++) {
        long sum = 0;
        for (int use = graph.begin[flow]; use < graph.begin[flow + 1]; use++) {
          sum += combine(links[graph.link[use]], graph.weight[use]);
        }
        flows[flow] = SplitMix.of(flows[flow], sum);
        for (int use = graph.begin[flow]; use < graph.begin[flow + 1]; use++) {
          sums[graph.link[use]] += combine(flows[flow], graph.weight[use]);
        }
      }
      for (int link = 0; link < links.length; link++) {
        links[link] = SplitMix.of(links[link], sums[link]);
      }
      now = colours(flows) + colours(links);
    }
    return merge(graph, numbers(flows), numbers(links));
  }

  private static long combine(long colour, double weight) {
    return SplitMix.of(colour, Double.doubleToLongBits(weight));
  }

  private static int colours(long[] of) {
    long[] sorted = of.clone();
    Arrays.sort(sorted);
    int colours = 0;
    for (int i = 0; i < sorted.length; i++) {
      colours += i == 0 || sorted[i] != sorted[i - 1] ? 1 : 0;
    }
    return colours;
  }

  /* Renumbers the colours from 0, in the order of their first occurrence. */
  private static int[] numbers(long[] colours) {
    Map<Long, Integer> known = new HashMap<>();
    int[] numbers = new int[colours.length];
    for (int i = 0; i < colours.length; i++) {
      Integer number = known.putIfAbsent(colours[i], known.size());
      numbers[i] = number == null ? known.size() - 1 : number;
    }
    return numbers;
  }

  /*
   * Returns a graph with one link for each class of links, and one flow for each class of flows.
   * The flow's weight on a link is the sum of the weights of the class's flows on one link of the
   * class.
   */
  private static SymmetryClasses merge(FlowGraph graph, int[] flowClass, int[] linkClass) {
    int flowClasses = Arrays.stream(flowClass).max().orElse(-1) + 1;
    int linkClasses = Arrays.stream(linkClass).max().orElse(-1) + 1;
    int[] members = new int[linkClasses];
    double[] capacity = new double[linkClasses];
    for (int link = 0; link < graph.links(); link++) {
      members[linkClass[link]]++;
      capacity[linkClass[link]] = graph.capacity[link];
    }
    int[] flows = new int[flowClasses];
    int[] first = new int[flowClasses];
    Arrays.fill(first, -1);
    for (int flow = 0; flow < graph.flows(); flow++) {
      flows[flowClass[flow]]++;
      if (first[flowClass[flow]] < 0) {
        first[flowClass[flow]] = flow;
      }
    }
    FlowGraph quotient = new FlowGraph(capacity);
    for (int each = 0; each < flowClasses; each++) {
      for (int use = graph.begin[first[each]]; use < graph.begin[first[each] + 1]; use++) {
        int link = linkClass[graph.link[use]];
        quotient.use(link, graph.weight[use] * flows[each] / members[link]);
      }
      quotient.endFlow();
    }
    return new SymmetryClasses(flowClass, quotient);
  }

  /** Returns the number of classes of flows. */
  int count() {
    return quotient.flows();
  }

  /** Returns the rate of each flow. */
  double[] rates() {
    double[] ofClass = MaxMin.rates(quotient);
    double[] rates = new double[classOfFlow.length];
    for (int flow = 0; flow < rates.length; flow++) {
      rates[flow] = ofClass[classOfFlow[flow]];
    }
    return rates;
  }
}
