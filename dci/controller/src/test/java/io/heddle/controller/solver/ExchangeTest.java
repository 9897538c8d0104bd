package io.heddle.controller.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Test that compares the search for exchanges, which skips pairs that can't help, with an
 * exhaustive search.
 */
class ExchangeTest {
  private static final int CASES = 2_000;
  private static final double CAPACITY = 100 * Networks.GBIT;

  @Test
  void searchFindsTheExhaustiveOptimumWithSharedLinks() {
    int found = 0;
    int none = 0;
    for (int seed = 0; seed < CASES; seed++) {
      Random random = new Random(seed);
      Loads loads = new Loads(network(random));
      double bound = loads.maximum(Networks.POLICY) - random.nextDouble() * 0.2;
      List<MoveCandidate> leaving = leaving(loads);
      Exchange searched =
          Exchange.best(loads, Networks.POLICY, leaving, flow -> true, list -> true, bound);
      double least = least(loads, leaving);
      if (least <= bound) {
        assertTrue(searched != null, "seed " + seed + ": nothing found, and there is " + least);
        assertEquals(least, searched.predicted(), 10 * Loads.SAME, "seed " + seed);
        found++;
      } else if (least > bound + 10 * Loads.SAME) {
        assertNull(searched, "seed " + seed);
        none++;
      }
    }
    assertTrue(found > CASES / 20 && none > CASES / 20, found + " found, " + none + " not");
  }

  private static NetworkSnapshot network(Random random) {
    int linkCount = 2 + random.nextInt(4);
    List<WanLink> links = new ArrayList<>();
    for (int i = 0; i < linkCount; i++) {
      links.add(new WanLink("l" + i, CAPACITY, random.nextDouble() * CAPACITY / 2, 0));
    }
    int listCount = 2 + random.nextInt(3);
    List<PathList> lists = new ArrayList<>();
    for (int id = 1; id <= listCount; id++) {
      List<String> over =
          IntStream.range(0, 1 + random.nextInt(2))
              .mapToObj(any -> "l" + random.nextInt(linkCount))
              .distinct()
              .toList();
      lists.add(new PathList(Networks.POLICY, id, over, true, 1, 0));
    }
    List<ElephantFlow> flows = new ArrayList<>();
    for (int i = 0; i < 3 + random.nextInt(8); i++) {
      int list = 1 + random.nextInt(listCount);
      double rate = (5 + random.nextInt(40)) * Networks.GBIT;
      flows.add(new ElephantFlow(Networks.id(i), Networks.POLICY, rate, list, list));
    }
    return new NetworkSnapshot(
        0, List.of(new SteeredPolicy(Networks.POLICY, "g", 0)), lists, links, flows);
  }

  private static List<MoveCandidate> leaving(Loads loads) {
    double most = loads.maximum(Networks.POLICY);
    List<MoveCandidate> moves = new ArrayList<>();
    for (int flow : loads.flows(Networks.POLICY)) {
      for (int to : loads.lists(Networks.POLICY)) {
        int from = loads.listOf(flow);
        if (to != from && loads.utilisation(from) >= most - Loads.SAME) {
          moves.add(loads.outcome(flow, to));
        }
      }
    }
    return moves;
  }

  private static double least(Loads loads, List<MoveCandidate> leaving) {
    double least = Double.POSITIVE_INFINITY;
    for (MoveCandidate comes : leaving) {
      for (int other : loads.flows(Networks.POLICY)) {
        if (other != comes.flow() && loads.listOf(other) == comes.to()) {
          for (int to : loads.lists(Networks.POLICY)) {
            if (to != comes.to()) {
              loads.move(other, to);
              least = Math.min(least, loads.outcome(comes.flow(), comes.to()).predicted());
              loads.move(other, comes.to());
            }
          }
        }
      }
    }
    return least;
  }
}
