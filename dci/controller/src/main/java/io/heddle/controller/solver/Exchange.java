package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;
import java.util.List;
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
   * The one that leaves the lowest maximum; null where there is none, or too many would have to be
   * tried.
   *
   * @param leaving moves of flows on the busiest lists
   * @param arriving whether a list may be a target
   */
  static @Nullable Exchange best(
      Loads loads,
      String policy,
      List<MoveCandidate> leaving,
      Predicate<ElephantFlow> movable,
      Predicate<Integer> arriving) {
    List<Integer> targets = loads.lists(policy).stream().filter(arriving).toList();
    List<Integer> flows = loads.flows(policy);
    if ((long) leaving.size() * flows.size() * targets.size() > MOST_TRIED) {
      return null;
    }
    Exchange best = null;
    for (MoveCandidate comes : leaving) {
      for (int other : flows) {
        int from = loads.listOf(other);
        if (other == comes.flow()
            || from != comes.to()
            || !movable.test(loads.flows().get(other))) {
          continue;
        }
        for (int to : targets) {
          if (to != from) {
            MoveCandidate makesRoom = loads.tried(other, to);
            loads.move(other, to);
            Exchange found = new Exchange(makesRoom, loads.tried(comes.flow(), comes.to()));
            loads.move(other, from);
            if (best == null || found.predicted() < best.predicted() - Loads.SAME) {
              best = found;
            }
          }
        }
      }
    }
    return best;
  }
}
