package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.PathList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Search for moves that lower the maximum, which is the utilisation of a policy's busiest list. It
 * tries single moves, pairs that only help together, and, if several lists are equally busy, a
 * series of moves. Moves at the end that don't lower the maximum are dropped.
 */
final class MovePlanner {
  private static final int MOST_REFUSED = 8;

  /**
   * Planned moves.
   *
   * @param steps moves in the order of execution
   * @param before maximum before the moves
   * @param after predicted maximum after the moves
   * @param refused candidates that the strategy prefers to the first single move that helps, but
   *     that lower the maximum too little; at most {@code MOST_REFUSED}
   */
  record Plan(List<Step> steps, double before, double after, List<MoveCandidate> refused) {}

  /**
   * One planned move.
   *
   * @param from index of the list that the flow leaves
   * @param before maximum before the move
   */
  record Step(MoveCandidate move, int from, double before) {}

  private final Loads loads;
  private final SolverSettings settings;
  private final Strategy strategy;

  MovePlanner(Loads loads, SolverSettings settings, Strategy strategy) {
    this.loads = loads;
    this.settings = settings;
    this.strategy = strategy;
  }

  /**
   * Plans moves of a policy's flows, and applies them to the loads.
   *
   * @param movable whether a flow may be moved now
   */
  Plan plan(String policy, Predicate<ElephantFlow> movable) {
    Set<ElephantFlow> moved = new HashSet<>();
    Predicate<ElephantFlow> free = movable.and(each -> !moved.contains(each));
    List<Step> steps = new ArrayList<>();
    List<MoveCandidate> refused = new ArrayList<>();
    double before = loads.maximum(policy);
    double best = before;
    int accepted = 0;
    List<MoveCandidate> next = List.of();
    do {
      List<MoveCandidate> candidates = candidates(policy, free);
      candidates.sort(strategy.order());
      if (steps.isEmpty()) {
        refused.addAll(insufficientMoves(best, candidates));
      }
      next = next(policy, best, candidates, free);
      if (steps.size() + next.size() > settings.mostMoves()) {
        break;
      }
      for (MoveCandidate each : next) {
        steps.add(new Step(each, loads.listOf(each.flow()), loads.maximum(policy)));
        loads.move(each.flow(), each.to());
        moved.add(each.elephant());
      }
      if (lowersEnough(best, loads.maximum(policy))) {
        accepted = steps.size();
        best = loads.maximum(policy);
      }
    } while (!next.isEmpty());
    while (steps.size() > accepted) {
      Step dropped = steps.removeLast();
      loads.move(dropped.move().flow(), dropped.from());
    }
    return new Plan(List.copyOf(steps), before, best, List.copyOf(refused));
  }

  private boolean lowersEnough(double from, double to) {
    return from - to >= settings.leastGain() - Loads.SAME;
  }

  /* Returns the moves that the strategy prefers to the first one that lowers the maximum enough. */
  private List<MoveCandidate> insufficientMoves(double best, List<MoveCandidate> candidates) {
    return candidates.stream()
        .takeWhile(each -> !lowersEnough(best, each.predicted()))
        .limit(MOST_REFUSED)
        .toList();
  }

  /*
   * Returns one move that lowers the maximum enough, or two that do so together, or one after which
   * fewer lists are at the maximum.
   */
  private List<MoveCandidate> next(
      String policy, double best, List<MoveCandidate> candidates, Predicate<ElephantFlow> movable) {
    for (MoveCandidate each : candidates) {
      if (lowersEnough(best, each.predicted())) {
        return List.of(each);
      }
    }
    Exchange pair =
        Exchange.best(
            loads,
            policy,
            candidates,
            movable,
            list -> isTarget(loads.list(list)),
            best - settings.leastGain());
    if (pair != null) {
      return List.of(pair.first(), pair.second());
    }
    MoveCandidate tieBreaker = tieBreaker(policy, candidates);
    return tieBreaker == null ? List.of() : List.of(tieBreaker);
  }

  /*
   * Returns the best move, by {@link Strategy#MIN_MAX}, after which fewer lists are at the maximum
   * and none is above it.
   */
  private @Nullable MoveCandidate tieBreaker(String policy, List<MoveCandidate> candidates) {
    double most = loads.maximum(policy);
    int busiest = loads.busiest(policy);
    MoveCandidate found = null;
    for (MoveCandidate each : candidates) {
      boolean fewer =
          each.predicted() < most - Loads.SAME
              || each.predicted() <= most + Loads.SAME && each.busiest() < busiest;
      if (fewer && (found == null || Strategy.MIN_MAX.order().compare(each, found) < 0)) {
        found = each;
      }
    }
    return found;
  }

  private List<MoveCandidate> candidates(String policy, Predicate<ElephantFlow> movable) {
    double most = loads.maximum(policy);
    List<MoveCandidate> candidates = new ArrayList<>();
    for (int flow : loads.flows(policy)) {
      ElephantFlow elephant = loads.flows().get(flow);
      int from = loads.listOf(flow);
      if (loads.utilisation(from) < most - Loads.SAME || !movable.test(elephant)) {
        continue;
      }
      for (int to : loads.lists(policy)) {
        if (to != from && isTarget(loads.list(to))) {
          candidates.add(loads.outcome(flow, to));
        }
      }
    }
    return candidates;
  }

  private boolean isTarget(PathList list) {
    return list.up()
        && list.latencyMs() <= settings.latencyLimitMs()
        && list.loss() <= settings.lossLimit();
  }
}
