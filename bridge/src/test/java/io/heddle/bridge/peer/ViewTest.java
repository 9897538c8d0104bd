package io.heddle.bridge.peer;

import static io.heddle.bridge.peer.Bridges.group;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Owner of a group by members, weights, priorities and orders. */
class ViewTest {
  private static final int GROUPS = 10_000;

  private static View.Member member(int id, int priority, int weight, boolean reserve) {
    return new View.Member(id, 1, priority, weight, reserve);
  }

  private static View.Member member(int id) {
    return member(id, 100, 1, false);
  }

  private static View view(View.Member... members) {
    return new View(List.of(members), Map.of(), Map.of());
  }

  private static long count(View view, int id) {
    return Bridges.groups(GROUPS).stream().filter(each -> view.ownerOf(each) == id).count();
  }

  @Test
  void sharesGroupsEvenlyOrByWeight() {
    assertEquals(GROUPS / 2.0, count(view(member(1), member(2)), 1), GROUPS / 50.0);
    View weighted = view(member(1, 100, 3, false), member(2));
    assertEquals(GROUPS * 3 / 4.0, count(weighted, 1), GROUPS / 50.0);
  }

  @Test
  void departingBridgeMovesOnlyItsOwnGroups() {
    View three = view(member(1), member(2), member(3));
    View two = view(member(1), member(3));
    for (Gid each : Bridges.groups(GROUPS)) {
      if (three.ownerOf(each) != 2) {
        assertEquals(three.ownerOf(each), two.ownerOf(each));
      }
    }
    assertTrue(count(three, 2) > GROUPS / 4);
  }

  @Test
  void highestPriorityOwnsAllAndReserveOwnsNothing() {
    assertEquals(GROUPS, count(view(member(1, 90, 9, false), member(2)), 2));
    assertEquals(GROUPS, count(view(member(1, 200, 1, true), member(2)), 2));
    assertEquals(GROUPS, count(view(member(1, 200, 1, true)), 1));
    assertEquals(View.NOBODY, view().ownerOf(group(1)));
  }

  @Test
  void orderPrecedesConfigurationAndConfigurationPrecedesHash() {
    List<View.Member> members = List.of(member(1), member(2), member(3));
    View fixed = new View(members, Map.of(group(1), 2, group(2), 9), Map.of());
    assertEquals(2, fixed.ownerOf(group(1)));
    assertEquals(
        view(member(1), member(2), member(3)).ownerOf(group(2)),
        fixed.ownerOf(group(2)),
        "an absent bridge owns nothing");
    View pinned = new View(members, Map.of(group(1), 2), Map.of(group(1), 3));
    assertEquals(3, pinned.ownerOf(group(1)));
    assertNotEquals(3, pinned.ownerWithout(group(1), 3));
  }

  @Test
  void digestDistinguishesExactlyDifferentViews() {
    View one = view(member(1), member(2));
    assertEquals(one.digest(), view(member(2), member(1)).digest());
    assertNotEquals(one.digest(), view(member(1)).digest());
    assertNotEquals(one.digest(), view(member(1), member(2, 101, 1, false)).digest());
    assertNotEquals(
        new View(List.of(), Map.of(group(1), 2), Map.of()).digest(),
        new View(List.of(), Map.of(), Map.of(group(1), 2)).digest());
    assertFalse(one.has(3));
  }
}
