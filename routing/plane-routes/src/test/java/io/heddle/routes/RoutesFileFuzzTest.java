package io.heddle.routes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Fuzz test of arbitrary content in place of the routes file. Either the reader refuses the file
 * with a message that contains its path, or every look-up has a result within bounds, in bounded
 * time.
 */
@EndsWithin(120)
class RoutesFileFuzzTest {
  private static final String HOST = "fd00:aa:0:5::5";
  private static final List<String> DESTINATIONS =
      List.of(
          HOST, "fd00:aa:0:5::6", "fd00:bb::1", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  private static final int ROUNDS = 400;

  @TempDir private static Path folder;

  private static byte[] before = {};
  private static byte[] after = {};

  /*
   * Publishes a table and changes it; the two states differ in every field that a publisher can
   * change.
   */
  @BeforeAll
  static void publish() throws IOException {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "plane:a", "plane:b", "plane:c")) {
      bed.route("fd00:aa::/32", 0, 400);
      bed.route("fd00:aa::/32", 1, 400);
      bed.route("::/0", 2, 100);
      bed.set(HOST + "/128", 0, RouteCell.of(WeightReason.PATH_BANDWIDTH_ZERO, 0));
      bed.set("fd00:bb::/32", 1, RouteCell.borrowed(RouteCell.of(WeightReason.LINK_BANDWIDTH, 7)));
      before = Files.readAllBytes(bed.path);
      bed.route("fd00:aa::/32", 0, 200);
      bed.set("fd00:bb::/32", 1, RouteCell.of(WeightReason.NO_FIGURE, 1));
      bed.set(HOST + "/128", 0, RouteCell.EMPTY);
      for (int i = 0; i < 200; i++) {
        bed.route("fd00:cc::%x/128".formatted(i), i % 3, i + 1);
      }
      after = Files.readAllBytes(bed.path);
    }
    assertEquals(before.length, after.length);
  }

  /**
   * Reads a file that begins with these bytes. With {@code JAZZER_FUZZ=1} the fuzzer searches for
   * bytes that break a bound.
   */
  @FuzzTest(maxDuration = "30s")
  void anyBytesAreRefusedOrRead(byte[] bytes) throws IOException {
    read(bytes);
  }

  /**
   * Edits a file and reads it. An edit has four bytes: an offset of 24 bits, and the new byte
   * there. If its first byte is 255, it cuts the file at the offset in the other three bytes.
   */
  @FuzzTest(maxDuration = "30s")
  void anyEditsOfAFileAreRefusedOrRead(byte[] edits) throws IOException {
    byte[] file = after.clone();
    int length = file.length;
    ByteBuffer script = ByteBuffer.wrap(edits);
    while (script.remaining() >= Integer.BYTES) {
      int word = script.getInt();
      if (word >>> 24 == 0xff) {
        length = (word & 0xffffff) % (file.length + 1);
      } else {
        file[(word >>> 8) % file.length] = (byte) word;
      }
    }
    read(Arrays.copyOf(file, length));
  }

  @Test
  void aFileThatIsCutAnywhereIsRefused() throws IOException {
    Random random = seeded();
    for (int round = 0; round < ROUNDS; round++) {
      int length = round < ROUNDS / 2 ? random.nextInt(after.length) : random.nextInt(1024);
      assertFalse(read(Arrays.copyOf(after, length)), "with its first " + length + " bytes alone");
    }
    assertTrue(read(Arrays.copyOf(after, after.length + random.nextInt(10_000))));
  }

  /*
   * Tests files with parts of the states before and after a change, as after a daemon's death
   * during a write, or in a copy made during a write.
   */
  @Test
  void aTornFileIsReadWithinBounds() throws IOException {
    Random random = seeded();
    for (int round = 0; round < ROUNDS; round++) {
      byte[] file = before.clone();
      int unit = 8 << random.nextInt(10);
      for (int at = 0; at < file.length; at += unit) {
        if (random.nextBoolean()) {
          System.arraycopy(after, at, file, at, Math.min(unit, file.length - at));
        }
      }
      assertTrue(read(file));
    }
  }

  @Test
  void fileWithChangedBytesIsRefusedOrReadWithinBounds() throws IOException {
    Random random = seeded();
    int readable = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] file = after.clone();
      /*
       * The rounds take turns: one changes bytes from the sequence on, one from the planes on, one
       * anywhere.
       */
      int first =
          round % 3 == 0 ? RoutesLayout.SEQUENCE : round % 3 == 1 ? RoutesLayout.HEADER_BYTES : 0;
      int length = round % 3 == 0 ? RoutesLayout.PUBLISHER : round % 3 == 1 ? 640 : file.length;
      for (int i = random.nextInt(round % 3 == 2 ? 2_000 : 8); i >= 0; i--) {
        file[first + random.nextInt(length - first)] = (byte) random.nextInt();
      }
      readable += read(file) ? 1 : 0;
    }
    assertTrue(readable > ROUNDS / 3, "most bytes don't make it another kind of file: " + readable);
  }

  /*
   * Tests random bytes after a valid header: a table without free slots, lengths out of range,
   * chains without an end.
   */
  @Test
  void aTableOfRandomBytesIsReadWithinBounds() throws IOException {
    Random random = seeded();
    for (int round = 0; round < ROUNDS / 10; round++) {
      byte[] file = new byte[after.length];
      random.nextBytes(file);
      ByteBuffer fields = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
      fields.putLong(0, RoutesLayout.MAGIC);
      fields.putLong(RoutesLayout.SEQUENCE, random.nextLong() & -2L);
      ByteBuffer whole = ByteBuffer.wrap(after).order(ByteOrder.LITTLE_ENDIAN);
      for (int shape :
          new int[] {RoutesLayout.CELLS, RoutesLayout.SLOT_BYTES, RoutesLayout.SLOTS}) {
        fields.putInt(shape, whole.getInt(shape));
      }
      assertTrue(read(file));
    }
  }

  @Test
  void impossibleDimensionsAreRefused() throws IOException {
    int[] numbers = {Integer.MIN_VALUE, -1, 0, 5, 65, 1 << 20, 1 << 30, Integer.MAX_VALUE};
    for (int field : new int[] {RoutesLayout.CELLS, RoutesLayout.SLOT_BYTES, RoutesLayout.SLOTS}) {
      for (int number : numbers) {
        byte[] file = after.clone();
        ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(field, number);
        assertFalse(read(file), number + " at " + field);
      }
    }
  }

  private static Random seeded() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    return new Random(seed);
  }

  /** Returns whether the bytes are a routes file, after calling every method of the reader. */
  private static boolean read(byte[] content) throws IOException {
    Path path = Files.write(folder.resolve("hostile"), content);
    try (RouteReader reader = RouteReader.open(path, NanoClock.SYSTEM)) {
      assertNotNull(reader);
      RouteAnswer answer = new RouteAnswer();
      for (String destination : DESTINATIONS) {
        long[] address = RoutesTestBed.address(destination);
        if (reader.resolve(address[0], address[1], answer)) {
          assertWithinBounds(answer);
        } else {
          assertTrue((reader.sequence() & 1) != 0, "only a change that never ends has no answer");
        }
      }
      List<PublishedPlane> planes = new ArrayList<>(reader.planes());
      assertTrue(planes.size() <= RoutesLayout.MAX_PLANES);
      for (PublishedPlane plane : planes) {
        assertTrue(plane.key().length() <= RoutesLayout.PLANE_KEY_BYTES);
        assertTrue(plane.rateMbps() >= 0);
      }
      assertNotNull(reader.liveness().state());
      assertTrue(reader.publisher().length() <= RoutesLayout.PUBLISHER_BYTES);
      assertTrue(reader.isCurrent());
      return true;
    } catch (HeddleException refused) {
      assertEquals(
          path
              + " is not a routes file of this release; run the same release of Heddle for the"
              + " daemon and the jobs",
          refused.getMessage());
      return false;
    }
  }

  private static void assertWithinBounds(RouteAnswer answer) {
    assertTrue(answer.planes() >= 0 && answer.planes() <= RoutesLayout.MAX_PLANES);
    for (int plane = 0; plane < answer.planes(); plane++) {
      int length = answer.prefixLength(plane);
      assertTrue(length >= -1 && length <= 128, "length " + length);
      assertTrue(answer.weight(plane) >= 0, "weight " + answer.weight(plane));
      assertTrue(answer.bandwidthMbps(plane) <= RouteCell.LARGEST_WEIGHT);
    }
  }
}
