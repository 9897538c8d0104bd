package io.heddle.cli.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Tests of the parts that commands share. */
class KitTest {
  private final List<String> undone = new ArrayList<>();

  @Test
  void cleanupRunsInReverseOrderOnce() {
    Cleanup cleanup = new Cleanup();
    AutoCloseable lab = () -> undone.add("lab");
    assertSame(lab, cleanup.add(lab));
    cleanup.add(() -> undone.add("ranks"));
    cleanup.close();
    cleanup.close();
    assertEquals(List.of("ranks", "lab"), undone);
  }

  @Test
  void failedCleanupStepDoesNotStopOthers() {
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.add(() -> undone.add("lab"));
      cleanup.add(() -> {
        throw new IOException("the folder is busy");
      });
    } finally {
      System.setErr(before);
    }
    assertEquals(List.of("lab"), undone);
    assertEquals(
        "heddle: while cleaning up: the folder is busy\n", said.toString(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "K", "-1", "1.5K", "0x10", "1T", "12 34", "1234567890123456"})
  void malformedSizesAreRefused(String text) {
    TypeConversionException refused =
        assertThrows(TypeConversionException.class, () -> new ByteSize().convert(text));
    assertEquals("'" + text + "' is not a size such as 8, 64K, 64M or 1G", refused.getMessage());
  }

  @Test
  void sizeBeyond64BitsIsRefused() {
    assertEquals(8_589_934_591L << 30, new ByteSize().convert("8589934591G"));
    TypeConversionException refused =
        assertThrows(TypeConversionException.class, () -> new ByteSize().convert("8589934592G"));
    assertEquals("'8589934592G' is more than a 64-bit number holds", refused.getMessage());
  }

  @CommandLine.Command
  private static final class Nothing {}

  @Test
  void rangeIncludesBothEnds() {
    OptionRange range = new OptionRange(new CommandLine(new Nothing()).getCommandSpec());
    range.require("--planes", 1, 1, 4);
    range.require("--planes", 4, 1, 4);
    ParameterException below =
        assertThrows(ParameterException.class, () -> range.require("--planes", 0, 1, 4));
    assertEquals("--planes 0 is not in 1 to 4", below.getMessage());
    assertThrows(ParameterException.class, () -> range.require("--planes", 5, 1, 4));
  }

  private record Figures(double ratio, Double gapMs, String longName) {}

  @Test
  void nonFiniteNumbersAreNullInJson() throws Exception {
    String json = Json.of(new Figures(Double.NaN, Double.POSITIVE_INFINITY, "a"));
    assertEquals(
        "{\"ratio\":null,\"gap_ms\":null,\"long_name\":\"a\"}", json.replaceAll("\\s", ""));
    assertEquals(
        new Figures(0.5, 2.0, "b"),
        Json.mapper().readValue(Json.of(new Figures(0.5, 2.0, "b")), Figures.class));
  }

  @Test
  void progressLineIsReplacedAndCleared() {
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    AtomicLong nowNs = new AtomicLong(-5);
    ProgressLine line =
        new ProgressLine(new PrintStream(shown, true, StandardCharsets.UTF_8), true, nowNs::get);
    line.clear();
    assertEquals("", shown.toString(StandardCharsets.UTF_8), "there is nothing to make room for");
    nowNs.addAndGet(3_500_000_000L);
    line.update(() -> "round 1");
    assertEquals("\r\u001b[Kround 1, 3 s", shown.toString(StandardCharsets.UTF_8));
    nowNs.addAndGet(199_000_000);
    line.update(() -> {
      throw new AssertionError("asked again at once");
    });
    shown.reset();
    line.clear();
    assertEquals("\r\u001b[K", shown.toString(StandardCharsets.UTF_8));
  }

  @Test
  void missingPartIsReportedWithRemedy() {
    Path missing = Installation.part(Path.of("no", "such", "part"));
    HeddleException told =
        assertThrows(
            HeddleException.class,
            () -> Installation.requirePart(Path.of("no", "such", "part"), "that part"));
    assertEquals(
        "that part is missing: " + missing + "; build it with ./heddle build", told.getMessage());
    assertTrue(missing.startsWith(Installation.root()));
  }
}
