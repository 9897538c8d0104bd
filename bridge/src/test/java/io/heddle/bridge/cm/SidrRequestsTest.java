package io.heddle.bridge.cm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.cm.SidrRequests.Arrival;
import io.heddle.bridge.cm.SidrRequests.Request;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Requests that wait for replies, in virtual time. */
class SidrRequestsTest {
  private static final Gid SERVER = host(200);
  private static final Gid OTHER_SERVER = host(201);
  private static final long SERVICE = CmaHeader.datagramService(7174);
  private static final long SECOND = 1_000_000_000L;

  private static Gid host(int number) {
    return new Gid(0, 0xffff_0a01_0000L | number);
  }

  private static SidrRequests table(int most) {
    return new SidrRequests(most, new SplittableRandom(1));
  }

  private static Request taken(SidrRequests table, Gid client, int id, long nowNs) {
    table.arrived(client, id, SERVER, id * 10L, SERVICE, nowNs);
    return Objects.requireNonNull(table.find(client, id));
  }

  private static List<Integer> expire(SidrRequests table, long nowNs) {
    List<Integer> unanswered = new ArrayList<>();
    table.expire(nowNs, each -> unanswered.add(each.clientId()));
    return unanswered;
  }

  @Test
  void equalIdsOfTwoClientsAreSeparateRequests() {
    SidrRequests table = table(10);
    Request one = taken(table, host(1), 7, 0);
    Request two = taken(table, host(2), 7, 0);
    assertNotEquals(one.ownId(), two.ownId());
    assertEquals(host(1), Objects.requireNonNull(table.findOpen(one.ownId())).client());
    assertEquals(host(2), Objects.requireNonNull(table.findOpen(two.ownId())).client());
    table.replied(one);
    assertNull(table.findOpen(one.ownId()));
    assertSame(two, table.findOpen(two.ownId()));
  }

  @Test
  void repeatMatchesRequestAndUpdatesTransaction() {
    SidrRequests table = table(10);
    assertEquals(Arrival.NEW, table.arrived(host(1), 7, SERVER, 1, SERVICE, 0));
    Request first = Objects.requireNonNull(table.find(host(1), 7));
    assertEquals(Arrival.REPEAT, table.arrived(host(1), 7, SERVER, 2, SERVICE, SECOND));
    assertSame(first, table.find(host(1), 7));
    assertEquals(2, first.transaction());
    assertEquals(1, table.open());
    assertEquals(List.of(7), expire(table, 10 * SECOND), "a repeat doesn't extend the deadline");
  }

  @Test
  void repeatAfterLostReplyWaitsUnderSameId() {
    SidrRequests table = table(10);
    Request request = taken(table, host(1), 7, 0);
    table.replied(request);
    assertEquals(0, table.open());
    assertSame(request, taken(table, host(1), 7, 9 * SECOND));
    assertSame(request, table.findOpen(request.ownId()));
    assertEquals(List.of(), expire(table, 18 * SECOND));
    assertEquals(List.of(7), expire(table, 19 * SECOND));
  }

  @Test
  void sameIdForOtherHostOrServiceIsSeparateRequest() {
    SidrRequests table = table(10);
    Request one = taken(table, host(1), 7, 0);
    assertEquals(Arrival.NEW, table.arrived(host(1), 7, OTHER_SERVER, 1, SERVICE, 0));
    assertNull(table.findOpen(one.ownId()));
    assertEquals(Arrival.NEW, table.arrived(host(1), 7, OTHER_SERVER, 1, SERVICE + 1, 0));
    assertEquals(1, table.size());
    assertEquals(1, table.open());
  }

  @Test
  void requestFailsAfterTenSeconds() {
    SidrRequests table = table(10);
    taken(table, host(1), 1, 0);
    taken(table, host(1), 2, SECOND);
    table.replied(taken(table, host(1), 3, SECOND));
    assertEquals(List.of(), expire(table, 10 * SECOND - 1));
    assertEquals(List.of(1), expire(table, 10 * SECOND));
    assertEquals(List.of(2), expire(table, 11 * SECOND), "an answered request doesn't fail");
    assertEquals(0, table.size());
    assertEquals(List.of(), expire(table, 100 * SECOND));
  }

  @Test
  void evictsLeastRecentlyUsedRequest() {
    SidrRequests table = table(3);
    Request one = taken(table, host(1), 1, 0);
    Request two = taken(table, host(1), 2, 1);
    taken(table, host(1), 3, 2);
    taken(table, host(1), 1, 3);
    taken(table, host(1), 4, 4);
    assertEquals(3, table.size());
    assertEquals(3, table.open());
    assertEquals(1, table.evicted());
    assertNull(table.findOpen(two.ownId()));
    assertNotNull(table.findOpen(one.ownId()));
  }

  @Test
  void neverAssignsUsedId() {
    int[] drawn = {5, 5, 5, 6};
    RandomGenerator few =
        new RandomGenerator() {
          private int next;

          @Override
          public int nextInt() {
            return drawn[next++];
          }

          @Override
          public long nextLong() {
            throw new AssertionError("ids have 32 bits");
          }
        };
    SidrRequests table = new SidrRequests(10, few);
    assertEquals(5, taken(table, host(1), 1, 0).ownId());
    assertEquals(6, taken(table, host(1), 2, 0).ownId());
  }

  @Test
  void manyClientsGetOnlyTheirOwnReplies() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    SidrRequests table = new SidrRequests(500, new SplittableRandom(seed));
    long now = 0;
    for (int i = 0; i < 10_000; i++) {
      now += random.nextInt(10_000_000);
      Gid client = host(random.nextInt(50));
      int id = random.nextInt(100);
      Request request = taken(table, client, id, now);
      assertEquals(client, request.client(), "seed " + seed);
      assertEquals(id, request.clientId(), "seed " + seed);
      assertSame(request, table.findOpen(request.ownId()), "seed " + seed);
      if (random.nextBoolean()) {
        table.replied(request);
        assertNull(table.findOpen(request.ownId()), "seed " + seed);
      }
      table.expire(now, each -> assertNull(table.findOpen(each.ownId()), "seed " + seed));
      assertTrue(table.open() <= table.size() && table.size() <= 500, "seed " + seed);
    }
    assertTrue(table.evicted() > 0, "seed " + seed);
    table.expire(now + SidrRequests.WAIT_NS, each -> {});
    assertEquals(0, table.size(), "seed " + seed);
    assertEquals(0, table.open(), "seed " + seed);
  }
}
