package io.heddle.tools.switching;

import io.heddle.addr.AddressPrefix;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Encoder and decoder of the keys and values of the BPF program's maps. The layouts are those of
 * switch.bpf.c.
 */
final class SwitchMaps {
  static final int MEMBER_BYTES = 32;
  static final int COUNT_BYTES = 40;
  static final int GROUP_BYTES =
      16 + 2 * SwitchGroup.MOST_MEMBERS + SwitchGroup.MOST_MEMBERS * MEMBER_BYTES;
  private static final int LIVING_AT = 16;
  private static final int ORDER_AT = LIVING_AT + SwitchGroup.MOST_MEMBERS;
  static final int MEMBERS_AT = ORDER_AT + SwitchGroup.MOST_MEMBERS;

  private SwitchMaps() {}

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
  }

  static byte[] number(int number) {
    return buffer(Integer.BYTES).putInt(number).array();
  }

  static byte[] prefix(String text) {
    AddressPrefix prefix = AddressPrefix.parse(text);
    return buffer(20).putInt(prefix.lengthBits()).put(prefix.address().getAddress()).array();
  }

  static byte[] settings(int seed, SwitchingMode mode, boolean byPort, boolean byPrefix) {
    return buffer(16)
        .putInt(seed)
        .putInt(mode.ordinal())
        .putInt(byPort ? 1 : 0)
        .putInt(byPrefix ? 1 : 0)
        .array();
  }

  /**
   * Returns the first part of a group's value; {@link GroupLoads} appends the entries of the
   * members.
   */
  static ByteBuffer group(int[] living, int[] order, int better, int meanNsPerKib) {
    ByteBuffer group = buffer(GROUP_BYTES);
    group.putInt(living.length).putInt(better).putInt(meanNsPerKib).putInt(0);
    for (int i = 0; i < living.length; i++) {
      group.put(LIVING_AT + i, (byte) living[i]);
      group.put(ORDER_AT + i, (byte) order[i]);
    }
    return group.position(MEMBERS_AT);
  }

  /** Returns whether a group's value lists a member as up. */
  static boolean isLiving(ByteBuffer group, int member) {
    for (int i = 0; i < group.getInt(0); i++) {
      if (group.get(LIVING_AT + i) == member) {
        return true;
      }
    }
    return false;
  }
}
