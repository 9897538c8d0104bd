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

/** Tests that calls by the shim with an id that never existed, or was removed, return an error. */
class JavaCallsTest {
  private static final long NEVER_GIVEN = 0x7654_0000_0001L;

  private final List<String> warnings = new ArrayList<>();

  @BeforeEach
  void listen() {
    JavaCalls.configure(
        (level, sentence) -> {
          if (level == Log.Level.WARN) {
            warnings.add(sentence);
          }
        },
        null);
  }

  @AfterEach
  void forget() {
    JavaCalls.configure(Log.toStandardError(), null);
  }

  @Test
  void unknownIdIsAnErrorWithOneWarningInEveryEntry() {
    try (Arena arena = Arena.ofConfined()) {
      long out = arena.allocate(JAVA_LONG).address();
      int[] results = {
        JavaCalls.manage(ManagedCall.FINALIZE, NEVER_GIVEN, 0, 0, 0, 0),
        JavaCalls.manage(ManagedCall.ACCEPT, NEVER_GIVEN, out, 0, 0, 0),
        JavaCalls.manage(ManagedCall.REGISTER_MEMORY, NEVER_GIVEN, 0, 0, 1, out),
        JavaCalls.registerDmaBuf(NEVER_GIVEN, 0, 4096, 4, 0, 3, out),
        JavaCalls.manage(ManagedCall.DEREGISTER_MEMORY, NEVER_GIVEN, 1, 0, 0, 0),
        JavaCalls.isend(NEVER_GIVEN, 0, 0, 0, 0, out),
        JavaCalls.irecv(NEVER_GIVEN, 1, 0, 0, 0, 0, out),
        JavaCalls.iflush(NEVER_GIVEN, 1, 0, 0, 0, out),
        JavaCalls.progress(NEVER_GIVEN),
        JavaCalls.manage(ManagedCall.CLOSE_SEND, NEVER_GIVEN, 0, 0, 0, 0),
        JavaCalls.manage(ManagedCall.CLOSE_RECEIVE, NEVER_GIVEN, 0, 0, 0, 0),
        JavaCalls.manage(ManagedCall.CLOSE_LISTEN, NEVER_GIVEN, 0, 0, 0, 0),
        JavaCalls.manage(ManagedCall.PLANES_OF, NEVER_GIVEN, 0, out, out, 0),
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
        JavaCalls.manage(ManagedCall.INIT, 1, -1, out, 0, 0),
        JavaCalls.manage(ManagedCall.DEVICES, out, 0, 0, 0, 0),
        JavaCalls.manage(ManagedCall.GET_PROPERTIES, 0, out, 0, 0, 0),
        JavaCalls.manage(ManagedCall.LISTEN, 0, 0, out, out, 0),
        JavaCalls.manage(ManagedCall.CONNECT, 0, 0, -1, out, out),
      };
      for (int i = 0; i < results.length; i++) {
        assertEquals(NcclResult.INTERNAL_ERROR, results[i], "entry " + i + ": " + warnings);
      }
    }
  }

  @Test
  void unknownCallIsAnError() {
    assertEquals(NcclResult.INTERNAL_ERROR, JavaCalls.manage(14, 0, 0, 0, 0, 0));
    assertTrue(warnings.getFirst().contains("14"), warnings.toString());
  }
}
