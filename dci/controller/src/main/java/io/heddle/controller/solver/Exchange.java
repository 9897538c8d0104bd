package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Pair of moves that only help together: one flow leaves a list, and a flow from the busiest list
 * takes its place.
 *
 * @param first move that makes room
 * @param second move of a flow from the busiest list into that room
 */
record Exchange(MoveCandidate first, MoveCandidate second) {
  /* Maximum number of pairs to try; trying that many takes about 10 ms. */
  private static final long MOST_TRIED = 200_000;

  double predicted() {
    return second.predicted();
  }

  /**
   * Returns the exchange after which the policy's busiest list has the lowest utilisation. Returns
   * null if no exchange keeps the bound, or if there are too many to try.
   *
   * @param leaving moves of flows on the busiest lists
   * @param movable whether a flow may be moved to make room
   * @param arriving whether a list may be the target of the flow that makes room
   * @param bound highest allowed utilisation of the busiest list after the exchange
   */
  static @Nullable Exchange best(
      Loads loads,
      String policy,
      List<MoveCandidate> leaving,
      Predicate<ElephantFlow> movable,
      IntPredicate arriving,
      double bound) {
    int[] targets =
        loads.lists(policy).stream().mapToInt(Integer::intValue).filter(arriving).toArray();
    List<Integer> flows = loads.flows(policy);
    if ((long) leaving.size() * flows.size() * targets.length > MOST_TRIED) {
      return null;
    }
    Search search = new Search(loads, targets, bound);
    Map<Integer, int[]> movableOn = new HashMap<>();
    for (MoveCandidate comes : leaving) {
      int from = comes.to();
      if (loads.lowerBoundAfter(comes.flow(), from) < search.least - Loads.SAME) {
        search.makeRoom(
            comes,
            movableOn.computeIfAbsent(
                from,
                list ->
                    flows.stream()
                        .mapToInt(Integer::intValue)
                        .filter(flow -> loads.listOf(flow) == list)
                        .filter(flow -> movable.test(loads.flows().get(flow)))
                        .toArray()));
      }
    }
    return search.found();
  }

  /* Search for the best pair. Most pairs don't help, so only the final one becomes an object. */
  private static final class Search {
    private final Loads loads;
    private final int[] targets;
    private double least;
    private @Nullable MoveCandidate second;
    private int first;
    private int firstTo;

    Search(Loads loads, int[] targets, double bound) {
      this.loads = loads;
      this.targets = targets;
      /*
       * The first pair that is found may equal the bound; each later one must be better than the
       * last.
       */
      least = bound + 2 * Loads.SAME;
    }

    void makeRoom(MoveCandidate comes, int[] others) {
      int from = comes.to();
      for (int other : others) {
        if (other == comes.flow()) {
          continue;
        }
        for (int to : targets) {
          if (to != from) {
            loads.move(other, to);
            double predicted = loads.predicted(comes.flow(), from);
            loads.move(other, from);
            if (predicted < least - Loads.SAME) {
              least = predicted;
              second = comes;
              first = other;
              firstTo = to;
            }
          }
        }
      }
    }

    @Nullable Exchange found() {
      if (second == null) {
        return null;
      }
      int from = loads.listOf(first);
      MoveCandidate makesRoom = loads.outcome(first, firstTo);
      loads.move(first, firstTo);
      Exchange found = new Exchange(makesRoom, loads.outcome(second.flow(), second.to()));
      loads.move(first, from);
      return found;
    }
  }
}
