package io.heddle.transport.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Fenced;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of how a sender checks and applies the receiver's message about a fenced plane. */
class SentChunksTest {
  private static final int PLANES = 2;
  private static final long GROUP = 5;
  private static final int GENERATION = 2;
  private static final int LINE = 7;

  private final Arena arena = Arena.ofConfined();
  private final SentChunks chunks =
      new SentChunks(PLANES, Memory.allocate(arena, SentChunks.carrierBytes(256), 8));

  @BeforeEach
  void makeRoom() {
    chunks.makeRoom(16);
  }

  @AfterEach
  void free() {
    arena.close();
  }

  /*
   * Begins a message of five chunks. Chunk 0 is acknowledged over plane 0, chunk 1 is outstanding
   * on plane 1, chunks 2 and 3 are outstanding on plane 0, and chunk 4 is to be posted.
   */
  private void begin() {
    int immediate = Immediate.encode((int) GROUP, GENERATION, 1, 0, 5);
    chunks.begin(LINE, GROUP, immediate, 5);
    chunks.posted(LINE, 0, 0);
    chunks.posted(LINE, 1, 1);
    chunks.posted(LINE, 2, 0);
    chunks.posted(LINE, 3, 2);
    assertFalse(chunks.acknowledged(LINE, 0));
  }

  private static Fenced fenced(long oldest, long next, Arrival... arrivals) {
    return new Fenced("plane:0", 0, oldest, next, List.of(arrivals));
  }

  private static Arrival arrival(long bits) {
    return new Arrival((int) GROUP, GENERATION, 1, 5, bits);
  }

  private String wrong(Fenced word) {
    begin();
    long before = chunks.toPost(LINE);
    String reason = chunks.describeContradiction(word, 0, GROUP, GROUP + 1);
    assertEquals(before, chunks.toPost(LINE), "judging changes nothing");
    return String.valueOf(reason);
  }

  @Test
  void arrivedChunksAreAcknowledgedAndMissingOnesReposted() {
    begin();
    Fenced word = fenced(4, 7, arrival(0b00101));
    assertNull(chunks.describeContradiction(word, 0, GROUP, GROUP + 1));
    assertTrue(chunks.isOutstandingOn(LINE, 0));
    assertEquals(0b01000, chunks.settle(LINE, word, 0));
    assertEquals(0b11000, chunks.toPost(LINE));
    assertFalse(chunks.isOutstandingOn(LINE, 0));
    assertTrue(chunks.isOutstandingOn(LINE, 1), "the other plane's chunk stays where it is");
  }

  @Test
  void completeGroupOfTheReceiverHasArrivedWholly() {
    chunks.begin(LINE, GROUP, Immediate.encode((int) GROUP, GENERATION, 0, 0, 64), 64);
    for (int chunk = 0; chunk < 64; chunk++) {
      chunks.posted(LINE, chunk, 0);
    }
    Fenced word = fenced(GROUP + 1, GROUP + 1);
    assertNull(chunks.describeContradiction(word, 0, GROUP + 1, GROUP + 1));
    assertEquals(0, chunks.settle(LINE, word, 0));
    assertTrue(chunks.isDone(LINE));
  }

  @Test
  void groupOpenedAfterTheFenceIsNoContradiction() {
    begin();
    chunks.begin(9, GROUP, Immediate.encode((int) GROUP, GENERATION, 0, 0, 1), 1);
    assertNull(
        chunks.describeContradiction(
            fenced(4, 5, new Arrival(4, 0, 0, 1, 1)), 1, GROUP, GROUP + 1));
  }

  /*
   * The Fenced message is late: the slot has had other groups since then, and after sixteen of them
   * the generation is the same again.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 15, 16, 32})
  void chunksOfAnEarlierGroupInTheSlotAreIgnored(long laps) {
    long group = GROUP + laps * ClearToSend.GROUPS;
    int generation = (int) (GENERATION + laps & 0xf);
    chunks.begin(LINE, group, Immediate.encode((int) GROUP, generation, 1, 0, 5), 5);
    chunks.posted(LINE, 0, 0);
    chunks.posted(LINE, 1, 1);
    Fenced word = fenced(4, 7, arrival(0b11111));
    assertNull(chunks.describeContradiction(word, 0, group, group + 1));
    assertEquals(0b00001, chunks.settle(LINE, word, 0));
    assertEquals(0b11101, chunks.toPost(LINE));
    assertTrue(chunks.isOutstandingOn(LINE, 1));
  }

  @Test
  void groupOpenedAfterTheFenceIsReposted() {
    chunks.begin(LINE, 7, Immediate.encode(7, GENERATION, 0, 0, 2), 2);
    chunks.posted(LINE, 0, 0);
    Fenced word = fenced(4, 7, arrival(1));
    assertNull(chunks.describeContradiction(word, 0, 7, 8));
    assertEquals(1, chunks.settle(LINE, word, 0));
  }

  @Test
  void unsentGroupHasNoChunks() {
    Fenced word = fenced(4, 7, arrival(1));
    assertTrue(
        String.valueOf(chunks.describeContradiction(word, 0, GROUP, GROUP)).contains("slot 5 has"));
  }

  @Test
  void futureGroupsCannotBeComplete() {
    assertTrue(wrong(fenced(GROUP + 1, GROUP + 2)).contains("groups 6 to 7"));
    assertTrue(wrong(fenced(-1, 3)).contains("groups -1"));
    assertTrue(wrong(fenced(4, 3)).contains("groups 4 to 3"));
    assertTrue(wrong(fenced(0, 300)).contains("groups 0 to 300"));
  }

  @Test
  void arrivalsOutsideTheOpenGroupsAreInvalid() {
    assertTrue(wrong(fenced(4, 7, arrival(1), new Arrival(6, 0, 0, 1, 1))).contains("slot 6 has"));
    assertTrue(wrong(fenced(4, 6, arrival(1), new Arrival(9, 0, 0, 1, 1))).contains("slot 9 has"));
  }

  @Test
  void impossibleBitmapsAreReported() {
    assertTrue(wrong(fenced(4, 7, arrival(0b100001))).contains("of 5"), "no chunk 5 of 5");
    assertTrue(wrong(fenced(4, 7, arrival(0b10001))).contains("weren't sent"), "chunk 4");
    assertTrue(wrong(fenced(4, 7, arrival(0b00100))).contains("acknowledged and is missing"));
    assertTrue(wrong(fenced(4, 7)).contains("acknowledged and is missing"), "nothing at all");
    assertTrue(wrong(fenced(4, 7, arrival(1), arrival(1))).contains("named twice"));
    assertTrue(wrong(fenced(4, 7, new Arrival((int) GROUP, 3, 1, 5, 1))).contains("generation 3"));
    assertTrue(
        wrong(fenced(4, 7, new Arrival((int) GROUP, GENERATION, 1, 6, 1))).contains("6 chunks"));
  }
}
