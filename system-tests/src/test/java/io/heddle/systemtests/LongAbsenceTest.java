package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.lab.Lab;
import io.heddle.cli.lab.LabPlan;
import io.heddle.cli.lab.Labs;
import io.heddle.cli.lab.Skip;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Planes that are away for long, each by another cause, under a job whose every byte is checked:
 * for some seconds, and for ten minutes with {@code ./heddle test --whole}. Each comes back by
 * itself.
 */
@EndsWithin(900)
final class LongAbsenceTest {
  private static final int AWAY_SECONDS = Boolean.getBoolean("heddle.test.whole") ? 600 : 5;
  private static final int FIRST_WORD_SECONDS = 60;
  private static final int PLANES = 6;
  private static final String WITHOUT_CARRIER = "e1";
  private static final String FLAPPING = "e2";
  private static final String ONE_WAY = "e3";
  private static final String WITHOUT_ADDRESS = "e4";

  @TempDir private Path folder;

  @Test
  void planesComeBackByThemselvesHoweverLongTheyWereAway()
      throws IOException, InterruptedException {
    BuiltParts.plugin();
    Skip.unless(Lab.Kind.NAMESPACES);
    Path end = folder.resolve("end");
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000));
        HostProcess first = rank(lab, 0, end);
        HostProcess second = rank(lab, 1, end)) {
      awaitAllCarry(lab, first, second);
      setUp(lab, 1, WITHOUT_CARRIER, false);
      on(lab, 1, "nft add table inet cut");
      on(lab, 1, "nft add chain inet cut in { type filter hook input priority 0 ; }");
      on(lab, 1, "nft add rule inet cut in iifname " + ONE_WAY + " drop");
      for (int rank = 0; rank < 2; rank++) {
        on(lab, rank, "ip addr del " + address(rank, WITHOUT_ADDRESS) + " dev " + WITHOUT_ADDRESS);
      }
      long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAY_SECONDS);
      for (boolean up = false; endNs - System.nanoTime() > 0; up = !up) {
        setUp(lab, 0, FLAPPING, up);
        TimeUnit.SECONDS.sleep(1);
        assertTrue(first.isAlive() && second.isAlive(), () -> said(first, second));
      }
      for (String plane : List.of(WITHOUT_CARRIER, FLAPPING, ONE_WAY, WITHOUT_ADDRESS)) {
        awaitWord("moving off plane if:" + plane, first, second);
      }
      if (AWAY_SECONDS > FIRST_WORD_SECONDS) {
        assertTrue(said(first, second).contains("has been away for"), () -> said(first, second));
      }
      setUp(lab, 0, FLAPPING, true);
      setUp(lab, 1, WITHOUT_CARRIER, true);
      on(lab, 1, "nft delete table inet cut");
      for (int rank = 0; rank < 2; rank++) {
        giveAddress(lab, rank, WITHOUT_ADDRESS);
      }
      awaitAllCarry(lab, first, second);
      Files.createFile(end);
      assertEquals(0, first.exitCode(60), () -> said(first, second));
      assertEquals(0, second.exitCode(60), () -> said(first, second));
      assertFalse(said(first, second).contains("remote error"), () -> said(first, second));
    }
  }

  /* A port that goes down takes addresses along that were given by hand. */
  private static void setUp(Lab lab, int rank, String name, boolean up)
      throws IOException, InterruptedException {
    on(lab, rank, "ip link set " + name + (up ? " up" : " down"));
    if (up) {
      giveAddress(lab, rank, name);
    }
  }

  private static void giveAddress(Lab lab, int rank, String name)
      throws IOException, InterruptedException {
    on(lab, rank, "ip addr replace " + address(rank, name) + " dev " + name + " nodad");
  }

  private static String address(int rank, String name) {
    return LabPlan.address(rank, Integer.parseInt(name.substring(1)) - 1) + "/64";
  }

  private HostProcess rank(Lab lab, int rank, Path end) throws IOException {
    List<String> command =
        List.of(
            BuiltParts.chaos().toString(),
            "--plugin",
            BuiltParts.plugin().toString(),
            "--rank",
            Integer.toString(rank),
            "--rendezvous",
            folder.toString(),
            "--until",
            end.toString());
    return HostProcess.start(
        lab, rank, folder.resolve("rank" + rank + ".log"), Map.of("NCCL_DEBUG", "INFO"), command);
  }

  private static void awaitAllCarry(Lab lab, HostProcess first, HostProcess second)
      throws IOException, InterruptedException {
    List<Long> before = lab.sentBytesByPlane();
    Patience patience = Patience.ofSeconds(120);
    List<Long> now = before;
    while (!allMore(before, now)) {
      assertTrue(
          !patience.isOver() && first.isAlive() && second.isAlive(),
          lab.sentBytesByPlane() + " after " + before + "\n" + said(first, second));
      TimeUnit.MILLISECONDS.sleep(100);
      now = lab.sentBytesByPlane();
    }
  }

  private static void awaitWord(String words, HostProcess first, HostProcess second)
      throws InterruptedException {
    Patience patience = Patience.ofSeconds(60);
    while (!said(first, second).contains(words)) {
      assertTrue(!patience.isOver(), () -> "no \"" + words + "\" in\n" + said(first, second));
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private static boolean allMore(List<Long> before, List<Long> now) {
    for (int plane = 0; plane < before.size(); plane++) {
      if (now.get(plane) - before.get(plane) < 1 << 20) {
        return false;
      }
    }
    return true;
  }

  private static String said(HostProcess first, HostProcess second) {
    try {
      return first.output() + "\n" + second.output();
    } catch (IOException unreadable) {
      return unreadable.toString();
    }
  }

  private static void on(Lab lab, int rank, String words) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(lab.command(rank, List.of(words.split(" "))))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), words + ": " + said);
  }
}
