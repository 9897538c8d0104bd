package io.heddle.routes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests with a process that cuts the routes file short in place. */
@EndsWithin(120)
class CutRoutesTest {
  /* Minimum number of cuts; more follow until one has happened in the middle of a reading. */
  private static final int CUTS = 60;

  @TempDir Path folder;

  private static void cut(Path path, long length) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(length);
    }
  }

  private static void fill(RoutePublisher publisher) {
    publisher.begin();
    for (int host = 0; host < PublisherProcess.HOSTS; host++) {
      int cell = RouteCell.of(WeightReason.PATH_BANDWIDTH, host + 1);
      publisher.set(PublisherProcess.HIGH, host, 128, 0, cell);
    }
    publisher.commit();
    publisher.goLive();
  }

  /*
   * Checks that the reader's process survives all cuts. A memory fault that isn't caught would end
   * it.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void readerSurvivesEveryCutWithoutAWrongResult(boolean quick) throws Exception {
    Random random = new Random(1);
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a")) {
      fill(bed.publisher);
      Process process = CutReaderProcess.start(bed.path, quick);
      try (BufferedReader out = process.inputReader();
          PrintWriter orders = new PrintWriter(process.outputWriter(), true)) {
        int cuts = 0;
        int faults = 0;
        while (cuts < CUTS || faults == 0) {
          orders.println("next");
          assertEquals("open", out.readLine());
          TimeUnit.MICROSECONDS.sleep(random.nextInt(5_000));
          cut(bed.path, cuts % 3 == 0 ? Files.size(bed.path) / 2 : 0);
          String answer = out.readLine();
          assertTrue("seen".equals(answer) || "fault".equals(answer), answer);
          cuts++;
          faults += "fault".equals(answer) ? 1 : 0;
          assertTrue(bed.publisher.isTruncated());
          bed.publisher.renew();
          fill(bed.publisher);
        }
        System.out.printf("of %s cuts %s were met as a fault%n", cuts, faults);
        orders.println("end");
        assertEquals(0, process.waitFor());
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
  }

  @Test
  void everyCallEndsWithTheSameError() throws IOException {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a")) {
      bed.route("::/0", 0, 3);
      try (RouteReader reader = bed.reader()) {
        cut(bed.path, 0);
        assertThrows(RoutesTruncatedException.class, reader::sequence);
        assertThrows(RoutesTruncatedException.class, reader::liveness);
        assertThrows(RoutesTruncatedException.class, reader::planes);
        assertThrows(RoutesTruncatedException.class, reader::publisher);
        assertThrows(RoutesTruncatedException.class, reader::entries);
        assertThrows(RoutesTruncatedException.class, () -> reader.awaitChange(0, 1_000_000_000L));
        RoutesTruncatedException truncated =
            assertThrows(RoutesTruncatedException.class, () -> reader.reading(() -> true));
        assertEquals(
            "another process has cut the routes file "
                + bed.path
                + " short, or its disk is failing",
            truncated.getMessage());
      }
    }
  }

  @Test
  void renewedFileHasItsPlanesAndNoRoutes() throws IOException {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a", "b")) {
      bed.route("::/0", 1, 3);
      assertFalse(bed.publisher.isTruncated());
      cut(bed.path, 4096);
      assertTrue(bed.publisher.isTruncated());
      bed.publisher.renew();
      assertFalse(bed.publisher.isTruncated());
      assertEquals(0, bed.publisher.entries());
      bed.route("::/0", 1, 4);
      bed.publisher.goLive();
      try (RouteReader reader = bed.reader()) {
        assertEquals(bed.publisher.planes(), reader.planes());
        assertEquals("0,4", bed.weights(reader, "fd00::1"));
        assertEquals(Liveness.State.ALIVE, reader.liveness().state());
      }
    }
  }

  @Test
  void aPublisherWhoseFileWasCutEndsWithoutAFault() throws IOException {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a")) {
      cut(bed.path, 0);
    }
    try (RoutesTestBed next = RoutesTestBed.of(folder, "a")) {
      next.route("::/0", 0, 5);
      try (RouteReader reader = next.reader()) {
        assertEquals("5", next.weights(reader, "fd00::1"));
      }
    }
  }
}
