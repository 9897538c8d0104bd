package io.heddle.controller.solver;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.controller.model.ElephantFlow;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests of the distance between the solver's result and the best placement of flows. */
class SolverQualityTest {
  private static final double MOST = 1.34;
  private static final int CASES = 1_000;

  /* Settings that measure the search alone: no waiting times, and every gain is accepted. */
  private static final SolverSettings EAGER =
      new SolverSettings(1e-6, 0, 0, 1e-6, 0, 1, 0, 4, 0, 0, 1, 3, Double.POSITIVE_INFINITY, 1);

  @Test
  void solverIsWithinAThirdOfTheOptimumInAThousandRandomCases() {
    double worst = 0;
    double sum = 0;
    for (int seed = 0; seed < CASES; seed++) {
      Random random = new Random(seed);
      Networks net = new Networks(2 + random.nextInt(3));
      int flows = 2 + random.nextInt(7);
      for (int list = 1; list <= net.lists; list++) {
        net.background.put(list, (double) random.nextInt(20));
      }
      for (int i = 0; i < flows; i++) {
        net.flow(i, 5 + random.nextInt(40), 1 + random.nextInt(net.lists));
      }
      double best = best(net);
      Solver solver = new Solver(EAGER, Strategy.MIN_MAX);
      while (!net.round(solver).decisions().isEmpty()) {
        assertTrue(net.nowNs < 100 * Networks.SECOND_NS, "seed " + seed + " never rests");
      }
      double ratio = net.maximum() / best;
      worst = Math.max(worst, ratio);
      sum += ratio;
      assertTrue(ratio <= MOST, "seed " + seed + ": " + ratio + " times the best maximum");
    }
    System.out.printf(
        Locale.ROOT,
        "solver: %.3f times the best maximum at worst, %.3f on average%n",
        worst,
        sum / CASES);
  }

  private static double best(Networks net) {
    List<ElephantFlow> flows = new ArrayList<>(net.flows.values());
    double[] loads = new double[net.lists];
    for (int list = 0; list < net.lists; list++) {
      loads[list] = net.background.getOrDefault(list + 1, 0.0);
    }
    return best(flows, 0, loads) / 100;
  }

  private static double best(List<ElephantFlow> flows, int next, double[] loads) {
    double best = Double.POSITIVE_INFINITY;
    if (next == flows.size()) {
      best = 0;
      for (double load : loads) {
        best = Math.max(best, load);
      }
      return best;
    }
    for (int list = 0; list < loads.length; list++) {
      loads[list] += flows.get(next).rate() / Networks.GBIT;
      best = Math.min(best, best(flows, next + 1, loads));
      loads[list] -= flows.get(next).rate() / Networks.GBIT;
    }
    return best;
  }
}
