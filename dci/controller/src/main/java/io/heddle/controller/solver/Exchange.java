package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Two moves of which neither helps alone: one flow makes room on a list, another comes there from
 * the busiest one.
 *
 * @param first makes room
 * @param second comes
 */
record Exchange(MoveCandidate first, MoveCandidate second) {
  /* Above it a search takes more than some 10 ms. */
  private static final long MOST_TRIED = 200_000;

  double predicted() {
    return second.predicted();
  }

  /**
   * The one that leaves the lowest maximum; null where none comes below the bound, or too many
   * would have to be tried.
   *
   * @param leaving moves of flows on the busiest lists
   * @param movable whether a flow may make room
   * @param arriving whether a list may be a target
   * @param bound utilisation that an exchange has to leave at most
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
      if (loads.atLeast(comes.flow(), from) < search.least - Loads.SAME) {
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

  /* What was found so far: most are tried in vain, so only the one that is taken becomes an object. */
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
      /* The bound itself is good enough; a later one has to be better than one before. */
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
      MoveCandidate makesRoom = loads.tried(first, firstTo);
      loads.move(first, firstTo);
      Exchange found = new Exchange(makesRoom, loads.tried(second.flow(), second.to()));
      loads.move(first, from);
      return found;
    }
  }
}
