package io.heddle.transport.control;

import io.heddle.platform.Memory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Handle that NCCL carries from the listening to the connecting side: the listener's addresses and
 * the token that authenticates a caller.
 *
 * <pre>
 *   0  magic "HDLH"  | version, u16 | number of addresses, u8 | zero, u8
 *   8  token, 16
 *  24  digest of the listener's planes, 16
 *  40  4 × (IPv6 or IPv4-mapped address, 16 | port, u16)
 * 120  state of the connecting side, u64; zero in a fresh handle
 * </pre>
 *
 * @param token 16 bytes
 * @param planeDigest {@link PlaneDigest} of the listener's planes when it wrote this
 * @param addresses one to four addresses of the listener, best first
 */
public record ConnectionHandle(
    byte[] token, byte[] planeDigest, List<InetSocketAddress> addresses) {
  /** NCCL_NET_HANDLE_MAXSIZE. */
  public static final int BYTES = 128;

  private static final int MAGIC = 0x48444c48;
  private static final int MAX_ADDRESSES = 4;
  private static final int TOKEN = 8;
  private static final int DIGEST = 24;
  private static final int ADDRESSES = 40;
  private static final int ADDRESS_BYTES = 18;
  private static final int STATE = 120;

  public ConnectionHandle {
    addresses = List.copyOf(addresses);
  }

  /** Writes the handle to the 128 bytes at this address. */
  public void write(long address) {
    Memory.clear(address, BYTES);
    Memory.ALL.set(Memory.NETWORK_INT, address, MAGIC);
    Memory.ALL.set(Memory.NETWORK_SHORT, address + 4, (short) ControlCodec.VERSION);
    int count = Math.min(addresses.size(), MAX_ADDRESSES);
    Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, address + 6, (byte) count);
    put(address + TOKEN, token);
    put(address + DIGEST, planeDigest);
    for (int i = 0; i < count; i++) {
      long at = address + ADDRESSES + (long) i * ADDRESS_BYTES;
      InetSocketAddress socket = addresses.get(i);
      put(at, io.heddle.verbs.Gid.of(socket.getAddress()).toBytes());
      Memory.ALL.set(Memory.NETWORK_SHORT, at + 16, (short) socket.getPort());
    }
  }

  private static void put(long address, byte[] bytes) {
    java.lang.foreign.MemorySegment.copy(
        bytes, 0, Memory.ALL, java.lang.foreign.ValueLayout.JAVA_BYTE, address, bytes.length);
  }

  /** Returns the handle at this address; null where there is no handle of this version. */
  public static @Nullable ConnectionHandle read(long address) {
    int count = Memory.ALL.get(java.lang.foreign.ValueLayout.JAVA_BYTE, address + 6);
    if (Memory.ALL.get(Memory.NETWORK_INT, address) != MAGIC
        || Memory.ALL.get(Memory.NETWORK_SHORT, address + 4) != ControlCodec.VERSION
        || count < 1
        || count > MAX_ADDRESSES) {
      return null;
    }
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long at = address + ADDRESSES + (long) i * ADDRESS_BYTES;
      byte[] raw = Memory.toArray(at, 16);
      int port = Memory.ALL.get(Memory.NETWORK_SHORT, at + 16) & 0xffff;
      try {
        addresses.add(new InetSocketAddress(InetAddress.getByAddress(raw), port));
      } catch (UnknownHostException impossible) {
        throw new IllegalStateException("sixteen bytes are an address", impossible);
      }
    }
    return new ConnectionHandle(
        Memory.toArray(address + TOKEN, ControlCodec.TOKEN_BYTES),
        Memory.toArray(address + DIGEST, PlaneDigest.BYTES),
        addresses);
  }

  /**
   * Returns the connecting side's own state number, kept between two calls; 0 in a fresh handle.
   */
  public static long state(long address) {
    return Memory.ALL.get(Memory.NATIVE_LONG, address + STATE);
  }

  public static void setState(long address, long state) {
    Memory.ALL.set(Memory.NATIVE_LONG, address + STATE, state);
  }
}
