package io.heddle.spray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

class SprayPolicyTest {
  private static final int CHUNK = 61_440;
  private static final List<String> KEYS = List.of("if:a", "if:b", "if:c", "if:d");

  private static PlaneLoads loads() {
    return new PlaneLoads(4, CHUNK, 16 << 20, 256);
  }

  private record Posted(int plane, int lengthBytes) {}

  /** Sends messages with a number of chunks in flight; returns bytes by plane. */
  private static long[] send(
      SprayPolicy policy, PlaneWeights weights, int messages, long seed, int slowPlane) {
    Random random = new Random(seed);
    PlaneLoads loads = loads();
    long[] bytes = new long[4];
    List<ArrayDeque<Posted>> inFlight =
        List.of(new ArrayDeque<>(), new ArrayDeque<>(), new ArrayDeque<>(), new ArrayDeque<>());
    for (int message = 0; message < messages; message++) {
      long length = random.nextInt(3) == 0 ? random.nextInt(2_000) : random.nextInt(4 << 20);
      int chunks = policy.chunks(length, loads, weights);
      for (int chunk = 0; chunk < chunks; chunk++) {
        long start = policy.chunkStart(length, chunk, chunks, loads, weights);
        int lengthBytes =
            (int) (policy.chunkStart(length, chunk + 1, chunks, loads, weights) - start);
        int plane = policy.choose(message, chunk, chunks, lengthBytes, loads, weights);
        while (plane == SprayPolicy.NO_PLANE) {
          complete(inFlight, loads, random, slowPlane);
          plane = policy.choose(message, chunk, chunks, lengthBytes, loads, weights);
        }
        loads.started(plane, lengthBytes, weights);
        inFlight.get(plane).add(new Posted(plane, lengthBytes));
        bytes[plane] += lengthBytes;
      }
      complete(inFlight, loads, random, slowPlane);
    }
    return bytes;
  }

  private static void complete(
      List<ArrayDeque<Posted>> inFlight, PlaneLoads loads, Random random, int slowPlane) {
    for (int plane = 0; plane < 4; plane++) {
      int count = plane == slowPlane ? random.nextInt(2) : 64;
      for (int i = 0; i < count && !inFlight.get(plane).isEmpty(); i++) {
        Posted done = inFlight.get(plane).poll();
        loads.finished(done.plane(), done.lengthBytes());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"spray,'4,2,1,1'", "spray,'1,1,1,1'", "spray,'100,1,1,0'", "pinned,'4,2,1,1'"})
  void bytesFollowTheWeightsWhileEveryPlaneKeepsUp(String name, String weightsText) {
    PlaneWeights weights = PlaneWeights.parse(weightsText, KEYS);
    long[] bytes = send(SprayPolicy.named(name, 7), weights, 2_000, 42, -1);
    long total = bytes[0] + bytes[1] + bytes[2] + bytes[3];
    for (int plane = 0; plane < 4; plane++) {
      double share = (double) bytes[plane] / total;
      double wanted = (double) weights.weight(plane) / weights.total();
      assertEquals(wanted, share, 0.02, "plane " + plane + " of " + weightsText);
    }
  }

  @Test
  void slowPlaneGetsLessThanItsWeight() {
    PlaneWeights weights = PlaneWeights.equal(4);
    long[] bytes = send(SprayPolicy.named("spray", 7), weights, 2_000, 42, 2);
    long others = (bytes[0] + bytes[1] + bytes[3]) / 3;
    assertTrue(bytes[2] < others / 4, "slow " + bytes[2] + ", others " + others);
    assertTrue(bytes[2] > 0);
  }

  @ParameterizedTest
  @FieldSource("io.heddle.spray.SprayPolicy#NAMES")
  void noChunkOfAHugeMessageExceedsTheDevicesLimit(String name) {
    SprayPolicy policy = SprayPolicy.named(name, 99);
    for (String weightsText : List.of("4,2,1,1", "1,0,0,0", "1,1,1,1", "1000000,1,3,7")) {
      PlaneWeights weights = PlaneWeights.parse(weightsText, KEYS);
      for (long length :
          new long[] {1L << 29, (1L << 29) + 1, (1L << 31) - 1, 1L << 32, 1L << 35}) {
        PlaneLoads loads = loads();
        int chunks = policy.chunks(length, loads, weights);
        assertTrue(chunks >= 1 && chunks <= SprayPolicy.MAX_CHUNKS, name + " " + length);
        long covered = 0;
        for (int chunk = 0; chunk < chunks; chunk++) {
          long bytes =
              policy.chunkStart(length, chunk + 1, chunks, loads, weights)
                  - policy.chunkStart(length, chunk, chunks, loads, weights);
          assertTrue(bytes >= 0 && bytes < 1L << 30, name + " " + length + ": " + bytes);
          covered += bytes;
          int plane = policy.choose(0, chunk, chunks, (int) bytes, loads, weights);
          assertTrue(plane >= 0 && plane < 4, name + " " + length + ": plane " + plane);
          loads.started(plane, (int) bytes, weights);
          loads.finished(plane, (int) bytes);
        }
        assertEquals(length, covered, name);
      }
    }
  }

  @ParameterizedTest
  @FieldSource("io.heddle.spray.SprayPolicy#NAMES")
  void chunksCoverEveryMessageOnceWithBoundariesOn128Bytes(String name) {
    SprayPolicy policy = SprayPolicy.named(name, 99);
    PlaneLoads loads = loads();
    for (String weightsText : List.of("4,2,1,1", "1,0,0,0", "1,1,1,1", "1000000,1,3,7")) {
      PlaneWeights weights = PlaneWeights.parse(weightsText, KEYS);
      for (long length :
          new long[] {
            0,
            1,
            127,
            128,
            129,
            CHUNK - 1,
            CHUNK,
            CHUNK + 1,
            1 << 20,
            64L * CHUNK,
            64L * CHUNK + 1,
            1L << 30
          }) {
        int chunks = policy.chunks(length, loads, weights);
        assertTrue(chunks >= 1 && chunks <= SprayPolicy.MAX_CHUNKS, name + " " + length);
        assertEquals(0, policy.chunkStart(length, 0, chunks, loads, weights));
        assertEquals(length, policy.chunkStart(length, chunks, chunks, loads, weights));
        for (int chunk = 1; chunk < chunks; chunk++) {
          long start = policy.chunkStart(length, chunk, chunks, loads, weights);
          assertEquals(0, start % SprayPolicy.BOUNDARY_BYTES);
          assertTrue(start >= policy.chunkStart(length, chunk - 1, chunks, loads, weights));
          assertTrue(start <= length);
        }
      }
    }
  }

  @Test
  void hashKeepsItsPlanesRegardlessOfWeights() {
    SprayPolicy policy = SprayPolicy.named("hash", 1234);
    PlaneLoads loads = loads();
    for (int flow = 0; flow < 4; flow++) {
      int once = policy.choose(flow, 0, 1, 100, loads, PlaneWeights.equal(4));
      int again = policy.choose(flow + 4, 0, 1, 100, loads, PlaneWeights.parse("9,1,1,1", KEYS));
      assertEquals(once, again);
    }
  }

  @Test
  void smallMessagesStayOnAPlaneForAChunkAndFollowTheWeights() {
    SprayPolicy spray = SprayPolicy.named("spray", 0);
    PlaneLoads loads = loads();
    PlaneWeights weights = PlaneWeights.parse("4,2,1,1", List.of("a", "b", "c", "d"));
    int messageBytes = 1024;
    int messages = 80 * CHUNK / messageBytes;
    long[] bytes = new long[4];
    int moves = 0;
    int last = -1;
    for (int message = 0; message < messages; message++) {
      int plane = spray.choose(message, 0, 1, messageBytes, loads, weights);
      loads.started(plane, messageBytes, weights);
      loads.finished(plane, messageBytes);
      bytes[plane] += messageBytes;
      moves += plane == last ? 0 : 1;
      last = plane;
    }
    assertTrue(moves < 100, "moved " + moves + " times in " + messages + " messages");
    for (int plane = 0; plane < 4; plane++) {
      double share = (double) bytes[plane] / (messages * messageBytes);
      assertEquals(weights.weight(plane) / 8.0, share, 0.03, "plane " + plane);
    }
  }

  @Test
  void smallMessagesLeaveAPlaneThatIsFullOrHasWeightZero() {
    SprayPolicy spray = SprayPolicy.named("spray", 0);
    PlaneLoads loads = loads();
    PlaneWeights before = PlaneWeights.parse("9,1,1,1", KEYS);
    PlaneWeights after = PlaneWeights.parse("0,1,1,1", KEYS);
    int current = -1;
    for (int message = 0; message < 256; message++) {
      int plane = spray.choose(message, 0, 1, 8, loads, before);
      assertTrue(current < 0 || current == plane, "message " + message + " left its plane");
      current = plane;
      loads.started(plane, 8, before);
    }
    assertTrue(
        spray.choose(256, 0, 1, 8, loads, before) != current, "256 are all that a plane takes");
    loads.finished(current, 8);
    loads.onWeightsChanged(before, after);
    for (int message = 257; message < 600; message++) {
      int plane = spray.choose(message, 0, 1, 8, loads, after);
      assertTrue(
          plane > 0, "message " + message + " takes plane " + plane + ", which weighs nothing");
      loads.started(plane, 8, after);
      loads.finished(plane, 8);
    }
  }
}
