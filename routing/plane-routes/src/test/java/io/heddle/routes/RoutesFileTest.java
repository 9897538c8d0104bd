package io.heddle.routes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a reader finds the publisher's content of a routes file. */
@EndsWithin(120)
class RoutesFileTest {
  private static final String HOST = "fd00:aa:0:5::5";
  private static final String NEIGHBOUR = "fd00:aa:0:5::6";

  @TempDir Path folder;

  @Test
  void longestMatchIsFoundPlaneByPlane() {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "plane:a", "plane:b", "plane:c");
        RouteReader reader = bed.reader()) {
      bed.route("fd00:aa::/32", 0, 400);
      bed.route("fd00:aa::/32", 1, 400);
      bed.route("::/0", 2, 100);
      bed.route(HOST + "/128", 0, 200);
      assertEquals("200,400,100", bed.weights(reader, HOST), "the host route is plane a's alone");
      assertEquals("400,400,100", bed.weights(reader, NEIGHBOUR));
      assertEquals("0,0,100", bed.weights(reader, "fd00:bb::1"));
      RouteAnswer answer = RoutesTestBed.answer(reader, HOST);
      assertEquals(128, answer.prefixLength(0));
      assertEquals(32, answer.prefixLength(1));
      assertEquals(0, answer.prefixLength(2));
    }
  }

  @Test
  void unreachableHostRouteExcludesThePlaneUntilWithdrawn() {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "plane:a", "plane:b");
        RouteReader reader = bed.reader()) {
      bed.route("fd00:aa::/32", 0, 400);
      bed.route("fd00:aa::/32", 1, 400);
      bed.set(HOST + "/128", 0, RouteCell.of(WeightReason.PATH_BANDWIDTH_ZERO, 0));
      assertEquals("0,400", bed.weights(reader, HOST));
      assertEquals("400,400", bed.weights(reader, NEIGHBOUR));
      assertEquals(WeightReason.PATH_BANDWIDTH_ZERO, RoutesTestBed.answer(reader, HOST).reason(0));
      bed.set(HOST + "/128", 0, RouteCell.EMPTY);
      assertEquals("400,400", bed.weights(reader, HOST));
      assertEquals(1, bed.publisher.entries());
    }
  }

  @Test
  void onlyRoutesFilesAreReplaced() throws IOException {
    Path path = Files.writeString(folder.resolve("routes"), "as = 65001\n");
    for (String cause : List.of("of another kind", "it isn't a regular file")) {
      String refused =
          assertThrows(HeddleException.class, () -> RoutesTestBed.of(folder, "plane:a"))
              .getMessage();
      assertTrue(refused.contains(cause), refused);
      assertTrue(Files.exists(path));
      Files.delete(path);
      Files.createDirectory(path);
    }
    Files.delete(path);
    Files.createFile(path);
    RoutesTestBed.of(folder, "plane:a").close();
    Files.write(path, "HDLROUT0".getBytes(StandardCharsets.UTF_8));
    RoutesTestBed.of(folder, "plane:a").close();
    assertTrue(Files.size(path) > 512);
  }

  @Test
  void reservationSucceedsWhollyOrChangesNothing() throws IOException {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "plane:a");
        RouteReader before = bed.reader()) {
      bed.route(HOST + "/128", 0, 200);
      /*
       * The publisher first writes a larger file under the name routes.new. A non-empty folder of
       * that name makes this fail.
       */
      Path aside = bed.publisher.path().resolveSibling("routes.new");
      Path inside = Files.createDirectories(aside.resolve("x"));
      long generation = bed.publisher.generation();
      assertThrows(HeddleException.class, () -> bed.publisher.reserve(3000));
      assertEquals(generation, bed.publisher.generation());
      assertEquals("200", bed.weights(before, HOST));
      assertTrue(before.isCurrent());
      Files.delete(inside);
      Files.delete(aside);
      bed.publisher.reserve(3000);
      try (RouteReader reader = bed.reader()) {
        assertEquals("200", bed.weights(reader, HOST));
        /* From here on no larger file can be created, and none is needed: the space is reserved. */
        Files.createDirectories(inside);
        bed.publisher.begin();
        bed.publisher.clear();
        for (int i = 0; i < 3000; i++) {
          bed.publisher.set(i, 0, 64, 0, RouteCell.of(WeightReason.PATH_BANDWIDTH_ZERO, 0));
        }
        bed.publisher.commit();
        assertEquals(3000, bed.publisher.entries());
        assertEquals("0", bed.weights(reader, HOST));
      }
    }
  }

  @Test
  void missingFigureFollowsTheDaemonsRule() {
    Map<MissingFigure, String> expected =
        Map.of(
            MissingFigure.EQUAL, "1,1,1",
            MissingFigure.SKIP, "400000,0,200000",
            MissingFigure.DEFAULT, "400000,7000,200000");
    expected.forEach((rule, weights) -> {
      try (RoutesTestBed bed =
              new RoutesTestBed(
                  folder, new WeightRules(rule, 7000, 5), NanoClock.SYSTEM, "a", "b", "c");
          RouteReader reader = bed.reader()) {
        bed.route("::/0", 0, 400);
        bed.set("::/0", 1, RouteCell.of(WeightReason.NO_FIGURE, 1));
        bed.route("::/0", 2, 200);
        RouteAnswer answer = RoutesTestBed.answer(reader, HOST);
        assertEquals(
            weights,
            answer.weight(0) / 100 + "," + answer.weight(1) / 100 + "," + answer.weight(2) / 100,
            rule.toString());
      }
    });
  }

  @Test
  void borrowedPathKeepsATwentiethOfItsWeight() {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "colour:1", "colour:2");
        RouteReader reader = bed.reader()) {
      bed.route("fd00:2:1:1::/64", 0, 100);
      bed.set(
          "fd00:2:1:2::/64",
          1,
          RouteCell.borrowed(RouteCell.of(WeightReason.PATH_BANDWIDTH, 100_000)));
      assertEquals("100,0", bed.weights(reader, "fd00:2:1:1::7"));
      assertEquals("0,5", bed.weights(reader, "fd00:2:1:2::7"));
      assertTrue(RoutesTestBed.answer(reader, "fd00:2:1:2::7").isOverOtherPlane(1));
    }
  }

  @Test
  void weightsBeyondTheFieldAreCutAndSmallOnesStayPositive() {
    assertEquals(
        RouteCell.LARGEST_WEIGHT,
        RouteCell.weight(RouteCell.of(WeightReason.PATH_BANDWIDTH, 65_535_000L)));
    assertEquals(1, RouteCell.weight(RouteCell.of(WeightReason.LINK_BANDWIDTH, 0)));
    assertEquals(0, RouteCell.weight(RouteCell.of(WeightReason.UNREACHABLE, 99)));
    assertThrows(IllegalArgumentException.class, () -> RouteCell.of(WeightReason.NO_ROUTE, 1));
  }

  @Test
  void anyOrderOfChangesEqualsAPlainMap() {
    SplittableRandom random = new SplittableRandom(5);
    Map<String, Integer> model = new HashMap<>();
    long[] highs = {0xfd00_00aa_0000_0000L, 0xfd00_00aa_0000_0005L, 0xfd00_00bb_0000_0000L};
    int[] lengths = {0, 16, 32, 48, 64, 65, 112, 128};
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a", "b", "c");
        RouteReader reader = bed.reader()) {
      for (int round = 0; round < 400; round++) {
        bed.publisher.begin();
        for (int i = 0; i < 50; i++) {
          int length = lengths[random.nextInt(lengths.length)];
          long high = RoutesLayout.maskHigh(highs[random.nextInt(highs.length)], length);
          long low = RoutesLayout.maskLow(random.nextInt(200), length);
          int plane = random.nextInt(3);
          int cell =
              random.nextInt(3) == 0
                  ? RouteCell.EMPTY
                  : RouteCell.of(WeightReason.PATH_BANDWIDTH, 1 + random.nextInt(1000));
          bed.publisher.set(high, low, length, plane, cell);
          String key = high + "/" + low + "/" + length + "/" + plane;
          if (cell == RouteCell.EMPTY) {
            model.remove(key);
          } else {
            model.put(key, cell);
          }
        }
        bed.publisher.commit();
        RouteAnswer answer = new RouteAnswer();
        for (int i = 0; i < 20; i++) {
          long high = highs[random.nextInt(highs.length)];
          long low = random.nextInt(200);
          assertTrue(reader.resolve(high, low, answer));
          for (int plane = 0; plane < 3; plane++) {
            int expected = RouteCell.EMPTY;
            for (int length : lengths) {
              String key =
                  RoutesLayout.maskHigh(high, length)
                      + "/"
                      + RoutesLayout.maskLow(low, length)
                      + "/"
                      + length
                      + "/"
                      + plane;
              expected = model.getOrDefault(key, expected);
            }
            assertEquals(expected, answer.cells[plane], "round " + round);
          }
        }
      }
      assertEquals(
          model.keySet().stream()
              .map(key -> key.substring(0, key.lastIndexOf('/')))
              .distinct()
              .count(),
          bed.publisher.entries());
    }
  }

  @Test
  void outgrownTableMovesAndReadersFollow() {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a", "b");
        RouteReader before = bed.reader()) {
      long generation = bed.publisher.generation();
      for (int host = 0; host < 5_000; host++) {
        bed.set("fd00::" + Integer.toHexString(host) + "/128", host % 2, cell(host));
      }
      for (String key : List.of("c", "d", "e")) {
        bed.publisher.setPlane(new PublishedPlane(key, null, 0, ""));
      }
      assertEquals(Liveness.State.SUPERSEDED, before.liveness().state());
      assertFalse(before.isCurrent());
      try (RouteReader after = bed.reader()) {
        assertTrue(after.isCurrent());
        assertEquals(5, after.planes().size());
        assertEquals(5_000, after.entries());
        for (int host = 0; host < 5_000; host++) {
          RouteAnswer answer = RoutesTestBed.answer(after, "fd00::" + Integer.toHexString(host));
          assertEquals(cell(host), answer.cells[host % 2]);
          assertEquals(RouteCell.EMPTY, answer.cells[1 - host % 2]);
          assertTrue(answer.generation() > generation);
        }
      }
    }
  }

  private static int cell(int host) {
    return RouteCell.of(WeightReason.LINK_BANDWIDTH, 1 + host);
  }

  @Test
  void planesCarryTheirKeyAndSourceAddress() throws IOException {
    try (RoutesTestBed bed = RoutesTestBed.of(folder);
        RouteReader reader = bed.reader()) {
      Inet6Address source = (Inet6Address) InetAddress.getByName("fd00:1:1:3::105");
      PublishedPlane plane = new PublishedPlane("colour:3", source, 400_000, "fe80::1%e0");
      assertEquals(0, bed.publisher.setPlane(plane));
      assertEquals(List.of(plane), reader.planes());
      PublishedPlane moved = new PublishedPlane("colour:3", null, 0, "ünnumbered");
      assertEquals(0, bed.publisher.setPlane(moved));
      assertEquals(List.of(moved), reader.planes());
      assertEquals("a test", reader.publisher());
    }
  }

  @Test
  void silentOrEndedDaemonIsDetected() {
    long[] now = {1_000_000_000_000L};
    try (RoutesTestBed bed = new RoutesTestBed(folder, WeightRules.DEFAULT, () -> now[0], "a");
        RouteReader reader = bed.reader()) {
      assertEquals(Liveness.State.ALIVE, reader.liveness().state());
      now[0] += 900_000_000;
      assertEquals(Liveness.State.ALIVE, reader.liveness().state());
      now[0] += 200_000_000;
      assertEquals(Liveness.State.SILENT, reader.liveness().state());
      assertEquals(1_100_000_000, reader.liveness().silenceNs());
      bed.publisher.heartbeat();
      assertEquals(Liveness.State.ALIVE, reader.liveness().state());
      bed.publisher.close();
      assertEquals(Liveness.State.ENDED, reader.liveness().state());
    }
  }

  @Test
  void readerWakesOnChange() throws Exception {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a");
        RouteReader reader = bed.reader()) {
      long sequence = reader.sequence();
      long start = System.nanoTime();
      Deadline deadline = Deadline.ofSeconds(10);
      reader.awaitChange(sequence, 20_000_000);
      assertTrue(System.nanoTime() - start >= 20_000_000, "nothing changed, so it waits");
      Path self = Path.of("/proc/thread-self").toRealPath().resolve("status");
      Thread writer =
          Thread.ofPlatform()
              .start(() -> {
                awaitAsleep(self);
                bed.route("::/0", 0, 1);
              });
      start = System.nanoTime();
      while (reader.sequence() == sequence) {
        reader.awaitChange(sequence, 30_000_000_000L);
      }
      assertFalse(deadline.isOver());
      writer.join();
    }
  }

  /* Waits until a thread is in a futex, which the kernel reports as sleeping. */
  private static void awaitAsleep(Path status) {
    Deadline deadline = Deadline.ofSeconds(20);
    try {
      while (!Files.readString(status).contains("\nState:\tS") && !deadline.isOver()) {
        Thread.onSpinWait();
      }
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Test
  void emptyChangePublishesNothing() {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a")) {
      bed.route("::/0", 0, 1);
      long generation = bed.publisher.generation();
      bed.route("::/0", 0, 1);
      bed.set("fd00::/8", 0, RouteCell.EMPTY);
      assertEquals(generation, bed.publisher.generation());
    }
  }

  @Test
  void predecessorsWeightsStayUntilTheFileIsLive() {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a");
        RouteReader reader = bed.reader()) {
      bed.route("::/0", 0, 7);
      bed.publisher.close();
      try (RoutePublisher next =
          RoutePublisher.create(bed.path, "next", WeightRules.DEFAULT, 100, NanoClock.SYSTEM)) {
        next.setPlane(new PublishedPlane("a", null, 0, ""));
        assertTrue(reader.isCurrent());
        assertEquals("7", bed.weights(bed.reader(), HOST));
        next.goLive();
        assertFalse(reader.isCurrent());
        assertEquals(Liveness.State.SUPERSEDED, reader.liveness().state());
        assertEquals("0", bed.weights(bed.reader(), HOST));
      }
    }
  }

  @Test
  void closedPublisherRefusesEveryCall() {
    RoutesTestBed bed = RoutesTestBed.of(folder, "a");
    bed.close();
    bed.close();
    assertThrows(IllegalStateException.class, () -> bed.route("::/0", 0, 1));
    assertThrows(IllegalStateException.class, bed.publisher::heartbeat);
    assertThrows(IllegalStateException.class, bed.publisher::commit);
  }

  @Test
  void aSecondDaemonAtTheSamePlaceIsRefused() {
    try (RoutesTestBed bed = RoutesTestBed.of(folder)) {
      HeddleException refused =
          assertThrows(HeddleException.class, () -> RoutesTestBed.of(folder).close());
      assertTrue(refused.getMessage().contains("another daemon publishes routes at " + bed.path));
    }
    RoutesTestBed.of(folder).close();
  }

  @Test
  void missingFileGivesNoReaderAndAnotherFormatIsReported() throws IOException {
    Path path = folder.resolve("routes");
    assertNull(RouteReader.open(path, NanoClock.SYSTEM));
    for (String content : List.of("", "not routes", "x".repeat(5000))) {
      Files.writeString(path, content);
      HeddleException refused =
          assertThrows(HeddleException.class, () -> RouteReader.open(path, NanoClock.SYSTEM));
      assertTrue(refused.getMessage().contains(path + " is not a routes file of this release"));
    }
  }

  @Test
  void unwritableFolderIsReported() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    for (Path path : List.of(file.resolve("routes"), Path.of("/proc/heddle/routes"))) {
      HeddleException refused =
          assertThrows(
              HeddleException.class,
              () ->
                  RoutePublisher.create(
                      path, "a test", WeightRules.DEFAULT, 100, NanoClock.SYSTEM));
      assertTrue(
          refused.getMessage().contains("the routes file " + path + " can't be published"),
          refused.getMessage());
    }
  }
}
