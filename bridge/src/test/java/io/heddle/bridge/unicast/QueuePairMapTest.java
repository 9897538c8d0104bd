package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.bridge.fabric.StubFabric;
import io.heddle.verbs.Gid;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Assignment of the bridge's queue pairs to remote ones, in virtual time. */
class QueuePairMapTest {
  private static final Gid WIRE = new Gid(0, 0xffff_0a02_0001L);
  private static final Gid OTHER = new Gid(0, 0xffff_0a02_0002L);
  private static final Gid VERBS = new Gid(0, 0xffff_0a01_0001L);
  private static final HostPair ENDS = new HostPair(WIRE, VERBS);
  private static final int KEY = 0x0123_4567;
  private static final int NONE = QueuePairMap.NONE;
  private static final int ON_WIRE = 0;
  private static final int BEHIND = 1;

  private final Conversations conversations = new Conversations(8);
  private final QueuePairMap numbers = new QueuePairMap(ends(2), conversations);

  private static MappedEnd[] ends(int queuePairs) {
    StubFabric device = new StubFabric(new int[queuePairs]);
    return new MappedEnd[] {
      MappedEnd.ofSocket(new StubFabric()), MappedEnd.ofDevice(device, new RecordingSidrService())
    };
  }

  private static HostPair back(HostPair ends) {
    return new HostPair(ends.destination(), ends.source());
  }

  private int begin(HostPair ends, int wire, int verbs) {
    int place = numbers.begin(ON_WIRE, ends, verbs, wire, 0);
    return place == NONE ? NONE : conversations.index(BEHIND, place);
  }

  private int find(HostPair ends, int queuePair, int verbs) {
    int place = conversations.find(BEHIND, back(ends), queuePair, verbs);
    return place == NONE ? NONE : conversations.number(ON_WIRE, place);
  }

  @Test
  void sharesOneQueuePairUntilRemoteOneUsesTwoOfHost() {
    assertEquals(0, begin(ENDS, 0x11, 0x21));
    assertEquals(0, begin(ENDS, 0x12, 0x22));
    assertEquals(0, begin(new HostPair(OTHER, VERBS), 0x11, 0x21), "another address of the bridge");
    assertEquals(1, begin(ENDS, 0x13, 0x21), "it reaches 0x11 through the first one");
    assertEquals(NONE, begin(ENDS, 0x14, 0x21));
    assertEquals(0x11, find(ENDS, 0, 0x21));
    assertEquals(0x13, find(ENDS, 1, 0x21));
    assertEquals(0x12, find(ENDS, 0, 0x22));
    assertEquals(NONE, find(ENDS, 1, 0x22));
  }

  @Test
  void serviceHasItsOwnQueuePairForAnyClient() {
    assertEquals(1, numbers.assign(BEHIND, back(ENDS), 0x70, 99, 0));
    assertEquals(
        1, numbers.assign(BEHIND, back(ENDS), 0x70, 98, 0), "the same service, with another key");
    int place = numbers.begin(BEHIND, back(ENDS), 1, 0x21, 0);
    assertNotEquals(NONE, place);
    assertEquals(0x70, conversations.number(ON_WIRE, place));
    assertEquals(98, conversations.queueKey(ON_WIRE, place));
    assertEquals(
        NONE, numbers.begin(BEHIND, back(ENDS), 0, 0x21, 0), "that one represents no service");
    assertEquals(NONE, numbers.begin(BEHIND, new HostPair(VERBS, OTHER), 1, 0x21, 0));
    assertEquals(1, begin(ENDS, 0x70, 0x22), "the service uses its own");
    assertEquals(0, begin(ENDS, 0x71, 0x22), "others don't");
    assertEquals(NONE, numbers.assign(BEHIND, back(ENDS), 0x72, 1, 0), "0 carries a conversation");
  }

  @Test
  void idleServiceIsReplacedAfterItsTime() {
    assertEquals(1, numbers.assign(BEHIND, back(ENDS), 0x70, KEY, 0));
    assertEquals(0, numbers.assign(BEHIND, back(ENDS), 0x71, KEY, 1));
    assertEquals(NONE, numbers.assign(BEHIND, back(ENDS), 0x72, KEY, Conversations.IDLE_NS - 1));
    assertEquals(1, numbers.assign(BEHIND, back(ENDS), 0x72, KEY, Conversations.IDLE_NS));
  }

  @Test
  void evictionAndExpiryReleaseQueuePairs() {
    for (int i = 0; i < 8; i++) {
      assertEquals(0, begin(ENDS, 0x11, i));
    }
    assertEquals(0, begin(ENDS, 0x12, 8), "the first one was evicted for it");
    assertEquals(1, conversations.evicted());
    assertEquals(NONE, find(ENDS, 0, 0));
    assertEquals(0x11, find(ENDS, 0, 1));
    conversations.expire(Conversations.IDLE_NS - 1);
    assertEquals(8, conversations.size());
    conversations.expire(Conversations.IDLE_NS);
    assertEquals(0, conversations.size());
    assertEquals(8, conversations.aged());
    assertEquals(1, numbers.assign(BEHIND, back(ENDS), 0x70, KEY, Conversations.IDLE_NS));
    assertEquals(0, numbers.assign(BEHIND, back(ENDS), 0x71, KEY, Conversations.IDLE_NS));
  }

  @Test
  void quarterMillionConversationsNeedFewBytesAndClearAtOnce() {
    int most = MappedForwarder.MOST_CONVERSATIONS;
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    long before = threads.getThreadAllocatedBytes(self);
    Conversations many = new Conversations(most);
    long bytes = threads.getThreadAllocatedBytes(self) - before;
    assertTrue(bytes <= 140L * most, bytes + " bytes");
    QueuePairMap map = new QueuePairMap(ends(1), many);
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < most; i++) {
        assertNotEquals(NONE, map.begin(ON_WIRE, endsOf(i), 0x21 + i % 64, 0x11, i));
      }
      assertEquals(most, many.size());
      for (int i = 0; i < most; i++) {
        int place = many.find(BEHIND, back(endsOf(i)), 0, 0x21 + i % 64);
        assertEquals(i, place);
      }
      map.clear();
      assertEquals(0, many.size());
      assertEquals(NONE, many.find(BEHIND, back(ENDS), 0, 0x21));
    }
    assertEquals(0, many.evicted() + many.aged());
  }

  private static HostPair endsOf(int number) {
    return new HostPair(WIRE, new Gid(VERBS.high(), VERBS.low() + number / 64));
  }

  @Test
  void findsManyFromBothSidesLikeMap() {
    Conversations many = new Conversations(500);
    QueuePairMap map = new QueuePairMap(ends(4), many);
    Map<Long, Integer> fromWire = new HashMap<>();
    Map<Long, Integer> fromVerbs = new HashMap<>();
    Random random = new Random(5);
    for (int i = 0; i < 400; i++) {
      int wire = random.nextInt(100);
      int verbs = random.nextInt(100);
      if (!fromWire.containsKey((long) wire << 24 | verbs)) {
        int place = map.begin(ON_WIRE, ENDS, verbs, wire, i);
        if (place != NONE) {
          fromWire.put((long) wire << 24 | verbs, place);
          Integer other = fromVerbs.put((long) many.index(BEHIND, place) << 24 | verbs, place);
          assertEquals(null, other, "two share a queue pair");
        }
      }
    }
    fromWire.forEach((key, place) -> {
      int wire = (int) (key >>> 24);
      int verbs = (int) (key & 0xff_ffff);
      assertEquals(place, many.find(ON_WIRE, ENDS, verbs, wire));
      assertEquals(place, many.find(BEHIND, back(ENDS), many.index(BEHIND, place), verbs));
    });
  }
}
