package io.heddle.bridge.cm;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Accessors for the private data of an application in a SIDR request or reply. Used rarely, so they
 * allocate.
 */
public final class PrivateBytes {
  /** Maximum length in a request, after RDMA CM's header. */
  public static final int IN_REQUEST = 180;

  /** Maximum length in a reply. */
  public static final int IN_REPLY = 136;

  private PrivateBytes() {}

  /** Returns a copy of the first bytes at an address. */
  public static List<Byte> read(long at, int count) {
    List<Byte> bytes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      bytes.add(Memory.ALL.get(ValueLayout.JAVA_BYTE, at + i));
    }
    return List.copyOf(bytes);
  }

  /**
   * Writes private data to an address.
   *
   * @param most available space in bytes; the bytes beyond it are omitted
   */
  public static void write(long at, List<Byte> bytes, int most) {
    for (int i = 0; i < Math.min(most, bytes.size()); i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, at + i, bytes.get(i));
    }
  }
}
