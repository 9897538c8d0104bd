package io.heddle.transport.data;

import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;

/**
 * Line of one communicator, shared with the shim: {@code struct heddle_comm} of
 * native/src/java_calls.h. By it the shim answers an unsuccessful test without entering Java.
 */
final class CommLine {
  private static final int ARRIVALS = 32;
  private static final int POLLS = 48;
  private static final int POLLED = 56;

  private final long address;

  /**
   * @param address of the line, zeroed
   */
  CommLine(long address) {
    this.address = address;
  }

  /** Has the device note completions and polls here; has no effect where the device can't. */
  void attach(DeviceContext context, CompletionQueue queue) {
    long looks = context.progressedAtAddress();
    if (looks != 0 && queue.publishArrivalsAt(address + ARRIVALS)) {
      Memory.setLong(address + POLLS, looks);
    }
  }

  /** Returns the time of the newest device poll that this communicator's caller may know of. */
  long polledNs() {
    return Memory.getLong(address + POLLED);
  }

  void setPolledNs(long atNs) {
    Memory.setLong(address + POLLED, atNs);
  }
}
