package io.heddle.plugin;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class HostTableTest {
  /*
   * Returns struct heddle_host in the layout of an x86-64 compiler. Every start of the plugin
   * checks the real structure.
   */
  private static MemorySegment host(Arena arena) {
    MemorySegment host = arena.allocate(144, 8);
    long[] words = {
      144,
      HostTable.TABLE_VERSION,
      12,
      0xdead0,
      arena.allocateFrom("/lib/x.so").address(),
      arena.allocateFrom("abc123").address(),
      64,
      64,
      128,
      64,
      8,
      40,
      48,
      48,
      32,
      48,
      56,
      0xbeef0,
    };
    for (int i = 0; i < words.length; i++) {
      host.setAtIndex(JAVA_LONG, i, words[i]);
    }
    return host;
  }

  @Test
  void readsTheLibrarysFacts() {
    try (Arena arena = Arena.ofConfined()) {
      HostTable table = new HostTable(host(arena).address());
      assertEquals(12, table.abiVersion());
      assertEquals("abc123", table.commit());
      assertEquals("/lib/x.so", table.libraryPath());
      assertEquals(0xbeef0, table.descriptors());
    }
  }

  @Test
  void refusesALibraryOfAnotherBuildAndNamesTheFact() {
    String[] expected = {
      "table is version %s of 145 bytes".formatted(HostTable.TABLE_VERSION),
      "table is version %s of 144 bytes".formatted(HostTable.TABLE_VERSION + 1),
      null,
      null,
      null,
      null,
      "sizeof heddle_request is 65",
      "sizeof heddle_comm is 65",
      "sizeof heddle_properties is 129",
      "sizeof heddle_calls is 65",
      "heddle_request.sizes is 9",
      "heddle_request.comm is 41",
      "heddle_request.java_id is 49",
      "sizeof heddle_plane_bytes is 49",
      "heddle_comm.events is 33",
      "heddle_comm.polls is 49",
      "heddle_comm.polls_seen is 57",
    };
    for (int word = 0; word < expected.length; word++) {
      if (expected[word] != null) {
        try (Arena arena = Arena.ofConfined()) {
          MemorySegment host = host(arena);
          host.setAtIndex(JAVA_LONG, word, host.getAtIndex(JAVA_LONG, word) + 1);
          String message =
              assertThrows(HeddleException.class, () -> new HostTable(host.address())).getMessage();
          assertTrue(message.contains(expected[word]), message);
          assertTrue(message.contains("use one build for both"), message);
        }
      }
    }
  }
}
