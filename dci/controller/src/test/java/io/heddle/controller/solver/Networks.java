package io.heddle.controller.solver;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Simulated network with one policy "p" of gateway "g". Each list has one link of 100 Gbit/s, so
 * that rates in Gbit/s are percentages. Decisions are applied at once.
 */
public final class Networks {
  static final String POLICY = "p";
  static final double GBIT = 1e9;
  static final long SECOND_NS = 1_000_000_000;

  final Map<FlowId, ElephantFlow> flows = new HashMap<>();
  final Map<Integer, Double> background = new HashMap<>();
  final Set<Integer> down = new HashSet<>();
  final int lists;
  long nowNs;

  public Networks(int lists) {
    this.lists = lists;
  }

  public static FlowId id(int queuePair) {
    return new FlowId("g", "fd00:1::1", "fd00:2::2", queuePair);
  }

  /** Adds a flow; rates and backgrounds are in Gbit/s. */
  public Networks flow(int queuePair, double rate, int list) {
    flows.put(id(queuePair), new ElephantFlow(id(queuePair), POLICY, rate * GBIT, list, list));
    return this;
  }

  double utilisation(int list) {
    double sum = background.getOrDefault(list, 0.0) * GBIT;
    for (ElephantFlow each : flows.values()) {
      sum += each.list() == list ? each.rate() : 0;
    }
    return sum / (100 * GBIT);
  }

  double maximum() {
    double most = 0;
    for (int list = 1; list <= lists; list++) {
      most = Math.max(most, utilisation(list));
    }
    return most;
  }

  public NetworkSnapshot snapshot() {
    return snapshot(nowNs, nowNs);
  }

  NetworkSnapshot snapshot(long gatewaySampleNs, long linkSampleNs) {
    List<PathList> all = new ArrayList<>();
    List<WanLink> links = new ArrayList<>();
    for (int list = 1; list <= lists; list++) {
      all.add(new PathList(POLICY, list, List.of("l" + list), !down.contains(list), 1, 0));
      links.add(new WanLink("l" + list, 100 * GBIT, 100 * GBIT * utilisation(list), linkSampleNs));
    }
    List<ElephantFlow> sorted = new ArrayList<>(flows.values());
    sorted.sort((left, right) -> left.id().compareTo(right.id()));
    return new NetworkSnapshot(
        nowNs, List.of(new SteeredPolicy(POLICY, "g", gatewaySampleNs)), all, links, sorted);
  }

  /** Lets a second pass, runs a round, and applies its decisions. */
  public Round round(Solver solver) {
    nowNs += SECOND_NS;
    Round round = solver.next(snapshot());
    carryOut(round);
    return round;
  }

  void carryOut(Round round) {
    for (Decision each : round.decisions()) {
      ElephantFlow flow = flows.get(each.flow());
      if (flow == null) {
        continue;
      }
      int to = each instanceof Decision.Move move ? move.to() : flow.hashList();
      flows.put(flow.id(), new ElephantFlow(flow.id(), POLICY, flow.rate(), to, flow.hashList()));
    }
  }
}
