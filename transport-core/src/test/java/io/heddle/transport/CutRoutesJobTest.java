package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightReason;
import io.heddle.routes.WeightRules;
import io.heddle.verbs.Gid;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a routes file that is cut short in place while a job follows it. */
@EndsWithin(90)
class CutRoutesJobTest {
  /**
   * Limit of a wait. It is checked between two lines: a read can't be interrupted, but the job
   * prints continuously.
   */
  private static final long LIMIT_SECONDS = 30;

  @TempDir Path folder;

  private RoutePublisher publish() {
    RoutePublisher publisher =
        RoutePublisher.create(
            folder.resolve("routes"), "a test", WeightRules.DEFAULT, 60_000, NanoClock.SYSTEM);
    for (int plane = 1; plane <= 2; plane++) {
      int number = publisher.setPlane(new PublishedPlane("plane:" + plane, null, 0, ""));
      Gid gid = Ends.gid(Ends.SOFT_NETWORK + ".78." + plane);
      publisher.begin();
      int cell = RouteCell.of(WeightReason.PATH_BANDWIDTH, plane * 100_000L);
      publisher.set(gid.high(), gid.low(), 128, number, cell);
      publisher.commit();
    }
    publisher.goLive();
    return publisher;
  }

  /* Reads until a line contains this text. */
  private static String await(BufferedReader out, String part) throws IOException {
    StringBuilder before = new StringBuilder();
    String line = out.readLine();
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (line != null && !line.contains(part)) {
      assertTrue(!deadline.isOver(), () -> "no '" + part + "' but " + before);
      before.append(line).append('\n');
      line = out.readLine();
    }
    assertNotNull(line, () -> "the job ended without '" + part + "': " + before);
    return line;
  }

  @Test
  void lastWeightsHoldThenPlanesAreEqualUntilANewFile() throws Exception {
    Process job = CutRoutesJob.start(folder, folder.resolve("routes"));
    try (BufferedReader out = new BufferedReader(new InputStreamReader(job.getInputStream()))) {
      try (RoutePublisher first = publish()) {
        await(out, "messages");
        await(out, "weights per destination, from " + first.path() + " (a test, 2 prefixes)");
        try (RandomAccessFile file = new RandomAccessFile(first.path().toFile(), "rw")) {
          file.setLength(0);
        }
        for (int end = 0; end < 2; end++) {
          String line = await(out, "has cut the routes file");
          String held = ": its last weights hold for " + CutRoutesJob.HOLD_MS + " ms";
          assertEquals(held, line.substring(line.indexOf(": its last")));
        }
        await(out, "weights per destination, the last from " + first.path());
        await(out, "weights by [held routes: path band");
        await(out, "all planes weigh the same until there is");
        await(out, "weights all equal");
        await(out, "weights by [equal, daemon silent]");
      }
      try (RoutePublisher next = publish()) {
        await(out, "weights follow " + next.path());
        await(out, "weights per destination, from " + next.path() + " (a test, 2 prefixes)");
        await(out, "weights by [routes: path bandwidth]");
        job.getOutputStream().close();
        await(out, "ended well");
      }
      assertEquals(0, job.waitFor());
    } finally {
      job.destroyForcibly().waitFor();
    }
  }
}
