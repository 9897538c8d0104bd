package io.heddle.tools.wan.figure;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;
import io.heddle.controller.solver.Round;
import io.heddle.controller.solver.Solver;
import io.heddle.controller.solver.SolverSettings;
import io.heddle.controller.solver.Strategy;
import io.heddle.platform.HeddleException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Comparison of the solver's placement with the best of all placements, in small random cases. */
public final class SolverFigure {
  private static final int CASES = 1_000;
  private static final double BOUND = 1.34;
  private static final double CAPACITY = 1e11;
  private static final long SECOND_NS = 1_000_000_000;
  private static final int MOST_ROUNDS = 100;
  private static final String POLICY = "wan";

  /* Settings without delays and minimum gains, so that only the solver's placement is measured. */
  private static final SolverSettings EAGER =
      new SolverSettings(1e-6, 0, 0, 1e-6, 0, 1, 0, 4, 0, 0, 1, 3, Double.POSITIVE_INFINITY, 1);

  private final double[] background;
  private final List<ElephantFlow> flows = new ArrayList<>();
  private long nowNs;

  private SolverFigure(Random random) {
    background = new double[2 + random.nextInt(3)];
    int count = 2 + random.nextInt(7);
    for (int list = 0; list < background.length; list++) {
      background[list] = CAPACITY * random.nextInt(20) / 100;
    }
    for (int i = 0; i < count; i++) {
      int list = 1 + random.nextInt(background.length);
      flows.add(
          new ElephantFlow(
              new FlowId("gateway", "fd00:1::1", "fd00:2::2", 2 + i),
              POLICY,
              CAPACITY * (5 + random.nextInt(40)) / 100,
              list,
              list));
    }
  }

  /**
   * Solves a thousand cases of 2 to 4 segment lists and 2 to 8 elephants. A case's number is its
   * random seed.
   *
   * @throws HeddleException if the solver still moves flows after many rounds
   */
  public static WanFigure measure() {
    double worst = 0;
    double sum = 0;
    for (int seed = 0; seed < CASES; seed++) {
      SolverFigure one = new SolverFigure(new Random(seed));
      double best = one.best(0, one.background.clone());
      double ratio = one.solved(seed) / best;
      worst = Math.max(worst, ratio);
      sum += ratio;
    }
    return WanFigure.atMost(
        "I",
        "solver against the best placement",
        worst,
        "",
        BOUND,
        String.format(
            Locale.ROOT, "the worst of %,d random cases; %.3f on average", CASES, sum / CASES));
  }

  /* Runs the solver until it moves no flow, and returns the load of the busiest list. */
  private double solved(int seed) {
    Solver solver = new Solver(EAGER, Strategy.MIN_MAX);
    for (int round = 0; round < MOST_ROUNDS; round++) {
      nowNs += SECOND_NS;
      Round decided = solver.next(snapshot());
      if (decided.decisions().isEmpty()) {
        return maximum(loads());
      }
      decided.decisions().forEach(this::carryOut);
    }
    throw new HeddleException("the solver never settles in the random case " + seed);
  }

  private void carryOut(Decision decision) {
    flows.replaceAll(flow -> {
      if (!flow.id().equals(decision.flow())) {
        return flow;
      }
      int to = decision instanceof Decision.Move move ? move.to() : flow.hashList();
      return new ElephantFlow(flow.id(), POLICY, flow.rate(), to, flow.hashList());
    });
  }

  private double[] loads() {
    double[] loads = background.clone();
    flows.forEach(each -> loads[each.list() - 1] += each.rate());
    return loads;
  }

  private static double maximum(double[] loads) {
    double most = 0;
    for (double each : loads) {
      most = Math.max(most, each);
    }
    return most;
  }

  private NetworkSnapshot snapshot() {
    double[] loads = loads();
    List<PathList> lists = new ArrayList<>();
    List<WanLink> links = new ArrayList<>();
    for (int list = 1; list <= loads.length; list++) {
      lists.add(new PathList(POLICY, list, List.of("link" + list), true, 1, 0));
      links.add(new WanLink("link" + list, CAPACITY, loads[list - 1], nowNs));
    }
    return new NetworkSnapshot(
        nowNs, List.of(new SteeredPolicy(POLICY, "gateway", nowNs)), lists, links, flows);
  }

  /* Returns the load of the busiest list in the best of all placements. */
  private double best(int next, double[] loads) {
    if (next == flows.size()) {
      return maximum(loads);
    }
    double best = Double.POSITIVE_INFINITY;
    for (int list = 0; list < loads.length; list++) {
      loads[list] += flows.get(next).rate();
      best = Math.min(best, best(next + 1, loads));
      loads[list] -= flows.get(next).rate();
    }
    return best;
  }
}
