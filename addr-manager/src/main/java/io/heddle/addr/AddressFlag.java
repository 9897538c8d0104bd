package io.heddle.addr;

import java.util.EnumSet;
import java.util.Set;

/**
 * State flag of an address (IFA_F_* in linux/if_addr.h). Only flags that plane discovery uses are
 * listed.
 */
public enum AddressFlag {
  /**
   * Privacy address (RFC 8981), which changes every few hours. IPv6 only: for IPv4 the bit has
   * another meaning.
   */
  TEMPORARY(0x01),
  /** Address that is usable before duplicate detection has ended (RFC 4429). */
  OPTIMISTIC(0x04),
  /** Address that another host has too, as duplicate detection found. */
  DUPLICATE(0x08),
  /** Address whose preferred lifetime is over. */
  DEPRECATED(0x20),
  /** Address whose duplicate detection hasn't ended. */
  TENTATIVE(0x40),
  /** Address set by hand, not by router advertisements. */
  PERMANENT(0x80),
  /** Address made from a secret and the prefix (RFC 7217) instead of the MAC. */
  STABLE_PRIVACY(0x800);

  private final int bit;

  AddressFlag(int bit) {
    this.bit = bit;
  }

  static Set<AddressFlag> ofBits(int bits, boolean ipv6) {
    Set<AddressFlag> flags = EnumSet.noneOf(AddressFlag.class);
    for (AddressFlag flag : values()) {
      if ((bits & flag.bit) != 0 && (ipv6 || flag != TEMPORARY)) {
        flags.add(flag);
      }
    }
    return flags;
  }

  static int toBits(Set<AddressFlag> flags) {
    int bits = 0;
    for (AddressFlag flag : flags) {
      bits |= flag.bit;
    }
    return bits;
  }
}
