package io.heddle.transport.data;

import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;

/**
 * The line of one communicator: {@code struct heddle_comm} of native/src/java_calls.h, by what it
 * tells the shim. By that the shim answers a test in vain without entering Java.
 */
final class CommLine {
  private static final int NEWS = 32;
  private static final int LOOKS = 48;
  private static final int LOOKED = 56;

  private final long address;

  /**
   * @param address of the line, of zeros
   */
  CommLine(long address) {
    this.address = address;
  }

  /** Has the device tell of completions here, and of looks; not at all where it can't. */
  void attach(DeviceContext context, CompletionQueue queue) {
    long looks = context.progressedAtAddress();
    if (looks != 0 && queue.publishArrivalsAt(address + NEWS)) {
      Memory.setLong(address + LOOKS, looks);
    }
  }

  /** The device's newest look that this one's caller may know of. */
  long lookedNs() {
    return Memory.getLong(address + LOOKED);
  }

  void setLookedNs(long atNs) {
    Memory.setLong(address + LOOKED, atNs);
  }
}
