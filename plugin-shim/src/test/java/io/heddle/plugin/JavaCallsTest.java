package io.heddle.plugin;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Log;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What the entries answer to a host that calls with numbers that aren't, or no longer are, ours.
 */
class JavaCallsTest {
  private static final long NEVER_GIVEN = 0x7654_0000_0001L;

  private final List<String> warnings = new ArrayList<>();

  @BeforeEach
  void listen() {
    JavaCalls.use(
        (level, sentence) -> {
          if (level == Log.Level.WARN) {
            warnings.add(sentence);
          }
        },
        null);
  }

  @AfterEach
  void forget() {
    JavaCalls.use(Log.toStandardError(), null);
  }

  @Test
  void aNumberThatWasNeverGivenIsAnErrorAndOneWarningInEveryEntry() {
    try (Arena arena = Arena.ofConfined()) {
      long out = arena.allocate(JAVA_LONG).address();
      int[] results = {
        JavaCalls.finish(NEVER_GIVEN),
        JavaCalls.accept(NEVER_GIVEN, out),
        JavaCalls.registerMemory(NEVER_GIVEN, 0, 0, 1, out),
        JavaCalls.registerDmaBuf(NEVER_GIVEN, 0, 4096, 4, 0, 3, out),
        JavaCalls.deregisterMemory(NEVER_GIVEN, 1),
        JavaCalls.isend(NEVER_GIVEN, 0, 0, 0, 0, out),
        JavaCalls.irecv(NEVER_GIVEN, 1, 0, 0, 0, 0, out),
        JavaCalls.iflush(NEVER_GIVEN, 1, 0, 0, 0, out),
        JavaCalls.progress(NEVER_GIVEN),
        JavaCalls.closeSend(NEVER_GIVEN),
        JavaCalls.closeReceive(NEVER_GIVEN),
        JavaCalls.closeListen(NEVER_GIVEN),
        JavaCalls.planesOf(NEVER_GIVEN, 0, out, out),
      };
      for (int i = 0; i < results.length; i++) {
        assertEquals(NcclResult.INVALID_ARGUMENT, results[i], "entry " + i + ": " + warnings);
      }
      assertEquals(results.length, warnings.size());
      assertTrue(
          warnings.stream().allMatch(text -> text.contains("0x765400000001")), warnings.toString());
    }
  }

  @Test
  void callsBeforeStartAreErrorsAndNoExceptionLeavesThem() {
    try (Arena arena = Arena.ofConfined()) {
      long out = arena.allocate(JAVA_LONG, 64).address();
      int[] results = {
        JavaCalls.init(1, -1, out),
        JavaCalls.devices(out),
        JavaCalls.getProperties(0, out),
        JavaCalls.listen(0, 0, out, out),
        JavaCalls.connect(0, 0, -1, out, out),
      };
      for (int i = 0; i < results.length; i++) {
        assertEquals(NcclResult.INTERNAL_ERROR, results[i], "entry " + i + ": " + warnings);
      }
    }
  }
}
