package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DistinctErrorsTest {
  @TempDir Path folder;

  private final List<String> passed = new ArrayList<>();
  private final DistinctErrors errors =
      new DistinctErrors((level, sentence) -> passed.add(sentence));
  private StatsFile file;

  @BeforeEach
  void open() {
    file = new StatsFile(folder, (level, sentence) -> {});
  }

  @AfterEach
  void close() {
    file.close();
  }

  private List<ProcessStats.DistinctError> shown() {
    return StatsReader.snapshot(file.path()).errors();
  }

  @Test
  void sentencesThatDifferOnlyInNumbersAreCountedAsOne() {
    errors.publishTo(file);
    errors.warn(
        "plane a (fd00::1 QP 0x1f to fd00::2 QP 0x2f): ended with RETRY_EXCEEDED (12) after 3"
            + " tries");
    errors.warn(
        "plane a (fd00::1 QP 0xaa to fd00::2 QP 0xbb): ended with RETRY_EXCEEDED (12) after 4"
            + " tries");
    List<ProcessStats.DistinctError> shown = shown();
    assertEquals(1, shown.size(), shown.toString());
    assertEquals(2, shown.getFirst().count());
    assertTrue(shown.getFirst().sentence().contains("0x1f"), "the first one's words");
    assertTrue(shown.getFirst().lastMs() >= shown.getFirst().firstMs());
    assertEquals(2, passed.size(), "each passes on to the log");
  }

  @Test
  void addressesPlanesAndInterfacesDistinguishSentences() {
    errors.publishTo(file);
    for (String name :
        List.of("fd00::1", "fd00::2", "plane:1", "plane:2", "eth0", "10.0.0.1", "10.0.0.2")) {
      errors.warn("%s is lost", name);
    }
    assertEquals(7, shown().size(), shown().toString());
  }

  /* Each control channel has its own port, and a dying peer closes hundreds of channels. */
  @Test
  void portsDoNotDistinguishSentences() {
    assertEquals(
        DistinctErrors.withoutNumbers("[fd00::2]:42215: the peer closed the connection"),
        DistinctErrors.withoutNumbers("[fd00::2]:4791: the peer closed the connection"));
    assertEquals(
        DistinctErrors.withoutNumbers("can't connect to 10.0.0.1:42215"),
        DistinctErrors.withoutNumbers("can't connect to 10.0.0.1:9"));
    assertNotEquals(
        DistinctErrors.withoutNumbers("[fd00::2]:9 is lost"),
        DistinctErrors.withoutNumbers("[fd00::3]:9 is lost"));
    assertNotEquals(
        DistinctErrors.withoutNumbers("10.0.0.1:9 is lost"),
        DistinctErrors.withoutNumbers("10.0.0.2:9 is lost"));
  }

  @Test
  void warningsBeforeTheFileExistedAreShown() {
    errors.warn("early");
    errors.info("no error");
    errors.publishTo(file);
    errors.warn("late");
    assertEquals(
        List.of("early", "late"),
        shown().stream().map(ProcessStats.DistinctError::sentence).toList());
    errors.stopPublishing();
    errors.warn("after the end");
    assertEquals(2, shown().size());
  }

  @Test
  void warningsWithoutRoomAreCounted() {
    errors.publishTo(file);
    for (int i = 0; i < StatsLayout.ERRORS + 3; i++) {
      errors.warn("plane:%d is lost", i);
    }
    ProcessStats stats = StatsReader.snapshot(file.path());
    assertEquals(StatsLayout.ERRORS, stats.errors().size());
    assertEquals(3, stats.errorsLost());
  }

  @Test
  void longSentenceIsCut() {
    errors.publishTo(file);
    errors.warn("x".repeat(5000));
    assertEquals(StatsLayout.ERROR_TEXT_BYTES - 1, shown().getFirst().sentence().length());
  }
}
