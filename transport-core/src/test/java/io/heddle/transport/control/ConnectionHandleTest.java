package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConnectionHandleTest {
  private static final byte[] TOKEN = HexFormat.of().parseHex("a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  private static final byte[] DIGEST = PlaneDigest.of(List.of("if:e0", "if:e1"));
  private final Arena arena = Arena.ofConfined();
  private final long handle = Memory.allocate(arena, ConnectionHandle.BYTES, 8);

  @AfterEach
  void free() {
    arena.close();
  }

  private static InetSocketAddress socket(String address, int port) throws UnknownHostException {
    return new InetSocketAddress(InetAddress.getByName(address), port);
  }

  @Test
  void bytesMatchTheDescription() throws UnknownHostException {
    new ConnectionHandle(
            TOKEN, DIGEST, List.of(socket("fd00::2", 0x1234), socket("10.0.0.1", 65535)))
        .write(handle);
    String expected =
        "48444c48"
            + "0009"
            + "02"
            + "00"
            + HexFormat.of().formatHex(TOKEN)
            + HexFormat.of().formatHex(DIGEST)
            + "fd000000000000000000000000000002"
            + "1234"
            + "00000000000000000000ffff0a000001"
            + "ffff";
    String written = HexFormat.of().formatHex(Memory.toArray(handle, ConnectionHandle.BYTES));
    assertEquals(expected, written.substring(0, expected.length()));
    assertTrue(
        written.substring(expected.length()).matches("0+"), "the rest is the caller's and zero");
  }

  @Test
  void handleIsReadBackBesideTheCallersState() throws UnknownHostException {
    List<InetSocketAddress> addresses =
        List.of(
            socket("fd00::2", 4000),
            socket("10.0.0.1", 4001),
            socket("fd00:1::2", 4002),
            socket("10.0.0.2", 4003));
    new ConnectionHandle(TOKEN, DIGEST, addresses).write(handle);
    assertEquals(0, ConnectionHandle.state(handle));
    ConnectionHandle.setState(handle, 42);
    ConnectionHandle read = ConnectionHandle.read(handle);
    assertNotNull(read);
    assertEquals(addresses, read.addresses());
    assertArrayEquals(TOKEN, read.token());
    assertArrayEquals(DIGEST, read.planeDigest());
    assertEquals(42, ConnectionHandle.state(handle));
  }

  @Test
  void digestDependsOnlyOnTheKeysInOrder() {
    byte[] digest = PlaneDigest.of(List.of("if:e0", "if:e1"));
    assertEquals(PlaneDigest.BYTES, digest.length);
    assertArrayEquals(digest, PlaneDigest.of(List.of("if:e0", "if:e1")));
    for (List<String> other :
        List.of(
            List.of("if:e1", "if:e0"),
            List.of("if:e0"),
            List.of("if:e0if:e1"),
            List.of("if:e0i", "f:e1"),
            List.<String>of())) {
      assertFalse(Arrays.equals(digest, PlaneDigest.of(other)), other.toString());
    }
  }

  @Test
  void handleOfAnotherPluginOrVersionIsRefused() throws UnknownHostException {
    ConnectionHandle mine = new ConnectionHandle(TOKEN, DIGEST, List.of(socket("::1", 1)));
    for (int damaged : new int[] {0, 5, 6}) { // magic, version, number of addresses
      mine.write(handle);
      byte before = Memory.ALL.get(ValueLayout.JAVA_BYTE, handle + damaged);
      Memory.ALL.set(ValueLayout.JAVA_BYTE, handle + damaged, (byte) (before + 4));
      assertNull(ConnectionHandle.read(handle), "byte " + damaged);
    }
    Memory.clear(handle, ConnectionHandle.BYTES);
    assertNull(ConnectionHandle.read(handle));
  }

  /** With {@code JAZZER_FUZZ=1} the fuzzer searches for handles that cause an exception. */
  @FuzzTest(maxDuration = "30s")
  void any128BytesAreAHandleOrRefused(byte[] bytes) {
    byte[] whole = Arrays.copyOf(bytes, ConnectionHandle.BYTES);
    MemorySegment.copy(whole, 0, Memory.ALL, ValueLayout.JAVA_BYTE, handle, whole.length);
    ConnectionHandle read = ConnectionHandle.read(handle);
    if (read != null) {
      assertTrue(!read.addresses().isEmpty() && read.addresses().size() <= 4);
    }
  }
}
