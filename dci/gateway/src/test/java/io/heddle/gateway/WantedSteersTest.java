package io.heddle.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.gateway.WantedSteers.Wanted;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.platform.testing.Requirements;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Steers by operators' orders and controllers' rules, on a data plane without interfaces. */
final class WantedSteersTest {
  private static final Set<Integer> ALIVE = Set.of(1, 2);
  private static final int ROOM = 32_768;

  private final List<String> log = new ArrayList<>();
  private DataPlane plane;
  private WantedSteers steers;

  @BeforeEach
  void load() {
    Requirements.skipWhere(DataPlane.refusal().orElse(""));
    plane = DataPlane.open(List.of(), 18_500);
    steers = new WantedSteers(plane, ALIVE, (level, sentence) -> log.add(sentence));
  }

  @AfterEach
  void unload() {
    if (plane != null) {
      plane.close();
    }
  }

  private static SteerKey key(int queuePair) {
    return new SteerKey(AddressText.parse("fc00:2::2"), queuePair, null);
  }

  private List<SteerKey> waiting() {
    List<SteerKey> waiting = new ArrayList<>();
    steers
        .all()
        .forEach((key, each) -> {
          if (each.isWaiting()) {
            waiting.add(key);
          }
        });
    return waiting;
  }

  @Test
  void ruleWithoutRoomWaitsForAnotherToEnd() {
    Map<SteerKey, Wanted> rules = new HashMap<>();
    for (int queuePair = 2; queuePair < 2 + ROOM + 2; queuePair++) {
      rules.put(key(queuePair), new Wanted(1, "controller"));
    }
    steers.rules(rules, Set.of(), ALIVE);
    assertEquals(
        List.of("the data plane has no room for 2 steers: they wait until others end"), log);
    List<SteerKey> waiting = waiting();
    assertEquals(2, waiting.size());
    assertFalse(
        steers.order(key(100_000), new Wanted(2, "operator"), ALIVE), "nor for an operator's");
    assertFalse(steers.all().containsKey(key(100_000)));
    SteerKey ended =
        rules.keySet().stream().filter(each -> !waiting.contains(each)).findFirst().orElseThrow();
    steers.rules(Map.of(), Set.of(ended), ALIVE);
    assertEquals(1, waiting().size());
    assertEquals(ROOM, plane.steers().size());
    assertTrue(waiting.containsAll(waiting()));
    steers.rules(Map.of(), Set.copyOf(waiting()), ALIVE);
    assertEquals(List.of(), waiting());
  }

  @Test
  void rulesOfADeadListFreeTheirRoom() {
    Map<SteerKey, Wanted> rules = new HashMap<>();
    for (int queuePair = 2; queuePair < 2 + ROOM; queuePair++) {
      rules.put(key(queuePair), new Wanted(1, "controller"));
    }
    steers.rules(rules, Set.of(), ALIVE);
    steers.rules(Map.of(key(100_000), new Wanted(2, "controller")), Set.of(), ALIVE);
    assertEquals(List.of(key(100_000)), waiting());
    steers.apply(Set.of(2));
    assertEquals(Map.of(key(100_000), 2), plane.steers());
    assertEquals(List.of(), waiting());
  }
}
