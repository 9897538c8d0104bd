package io.heddle.controller.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Ten minutes of random load by an injected clock: flows come and go, links have background. */
class SolverSteadinessTest {
  private static final int SECONDS = 600;
  private static final int CASES = 20;
  private static final long REST_NS = SolverSettings.DEFAULT.holdDownNs();

  @Test
  void noFlowFlapsInTenMinutesOfRandomLoad() {
    for (int seed = 0; seed < CASES; seed++) {
      Random random = new Random(seed);
      Networks net = new Networks(3 + random.nextInt(3));
      Solver solver = new Solver(SolverSettings.DEFAULT, Strategy.values()[seed % 3]);
      Map<FlowId, Long> lastNs = new HashMap<>();
      int changes = 0;
      int arrivals = 0;
      int next = 1;
      for (int second = 0; second < SECONDS; second++) {
        if (random.nextInt(4) == 0 && net.flows.size() < 12) {
          net.flow(next++, 5 + random.nextInt(30), 1 + random.nextInt(net.lists));
          arrivals++;
        }
        if (random.nextInt(6) == 0 && !net.flows.isEmpty()) {
          List<FlowId> there = net.flows.keySet().stream().sorted().toList();
          net.flows.remove(there.get(random.nextInt(there.size())));
        }
        vary(net, random);
        for (Decision each : net.round(solver).decisions()) {
          boolean gone = !net.flows.containsKey(each.flow());
          Long before = lastNs.put(each.flow(), net.nowNs);
          changes += gone ? 0 : 1;
          assertTrue(
              gone || before == null || net.nowNs - before >= REST_NS,
              "seed " + seed + ", second " + second + ": " + each);
        }
      }
      assertTrue(changes > 0, "seed " + seed + " had nothing to do");
      assertTrue(
          changes <= 2 * arrivals,
          "seed " + seed + ": " + changes + " changes for " + arrivals + " flows that came");
      net.flows.clear();
      net.round(solver);
      for (int i = 1; i < next; i++) {
        assertTrue(!solver.hasRule(Networks.id(i)), "seed " + seed + ": a rule outlives its flow");
      }
    }
  }

  @Test
  void steadyLoadWithNoiseComesToRest() {
    for (int seed = 0; seed < CASES; seed++) {
      Random random = new Random(seed);
      Networks net = new Networks(3);
      for (int i = 1; i <= 8; i++) {
        net.flow(i, 10 + random.nextInt(25), 1 + random.nextInt(2));
      }
      Map<FlowId, Double> rates = new HashMap<>();
      net.flows.forEach((id, flow) -> rates.put(id, flow.rate()));
      Solver solver = new Solver(SolverSettings.DEFAULT, Strategy.MIN_MAX);
      int late = 0;
      for (int second = 0; second < SECONDS; second++) {
        for (Map.Entry<FlowId, Double> each : rates.entrySet()) {
          set(net, each.getKey(), each.getValue() * (1 + 0.02 * random.nextGaussian()));
        }
        int decisions = net.round(solver).decisions().size();
        late += second < 60 ? 0 : decisions;
      }
      assertEquals(0, late, "changes after the first minute, seed " + seed);
    }
  }

  private static void vary(Networks net, Random random) {
    for (int list = 1; list <= net.lists; list++) {
      double background = net.background.getOrDefault(list, 10.0) + random.nextGaussian();
      net.background.put(list, Math.clamp(background, 0, 30));
    }
    for (FlowId each : net.flows.keySet().stream().sorted().toList()) {
      set(
          net,
          each,
          Math.clamp(
              net.flows.get(each).rate() * (1 + 0.02 * random.nextGaussian()),
              Networks.GBIT,
              50 * Networks.GBIT));
    }
  }

  private static void set(Networks net, FlowId id, double rate) {
    ElephantFlow flow = net.flows.get(id);
    net.flows.put(id, new ElephantFlow(id, flow.policy(), rate, flow.list(), flow.hashList()));
  }
}
