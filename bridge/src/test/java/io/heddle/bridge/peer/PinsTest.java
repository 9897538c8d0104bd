package io.heddle.bridge.peer;

import static io.heddle.bridge.peer.Bridges.group;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Table of operators' orders that bridges exchange. */
class PinsTest {
  private final Pins pins = new Pins();

  @Test
  void newestOrderOfGroupIsInForce() {
    assertTrue(pins.order(group(1), 2));
    assertTrue(pins.order(group(1), 3));
    Pins other = new Pins();
    other.merge(pins.all());
    assertEquals(Map.of(group(1), 3), other.owners());
    assertTrue(other.order(group(1), View.NOBODY));
    pins.merge(other.all());
    assertEquals(Map.of(), pins.owners());
    pins.merge(List.of(new Beacon.Pin(group(1), 2, 1)));
    assertEquals(Map.of(), pins.owners());
  }

  @Test
  void refusesOrdersBeyondCapacityUntilOneIsWithdrawn() {
    for (int i = 1; i <= Beacon.MOST_PINS; i++) {
      assertTrue(pins.order(group(i), 2));
    }
    assertFalse(pins.order(group(99), 2));
    assertTrue(pins.order(group(1), 3), "another owner for the same group needs no slot");
    assertTrue(pins.order(group(2), View.NOBODY));
    assertFalse(pins.order(group(99), 2), "the oldest order in force isn't evicted");
  }

  @Test
  void mergeIsIndependentOfOrder() {
    List<Beacon.Pin> heard = new ArrayList<>();
    Random random = new Random(3);
    for (int i = 0; i < 100; i++) {
      int number = random.nextInt(40);
      heard.add(new Beacon.Pin(group(number), random.nextInt(3), random.nextInt(50)));
    }
    pins.merge(heard);
    for (int i = 0; i < 20; i++) {
      Collections.shuffle(heard, random);
      Pins other = new Pins();
      heard.forEach(each -> other.merge(List.of(each)));
      other.merge(pins.all());
      assertEquals(pins.all(), other.all());
    }
  }
}
