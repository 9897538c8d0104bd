package io.heddle.transport.data;

import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;

/**
 * Cache line of one communicator, shared with the shim: {@code struct heddle_comm} of
 * native/src/java_calls.h. With this line the shim answers an unsuccessful test without entering
 * Java.
 */
final class CommLine {
  private static final int ARRIVALS = 32;
  private static final int POLLS = 48;
  private static final int POLLED = 56;

  private final long address;

  /**
   * @param address address of the line, which is zeroed
   */
  CommLine(long address) {
    this.address = address;
  }

  /**
   * Makes the device publish arrived completions in this line, and stores the address of the
   * device's last poll time. Has no effect where the device can't.
   */
  void attach(DeviceContext context, CompletionQueue queue) {
    long pollTimeAddress = context.progressedAtAddress();
    if (pollTimeAddress != 0 && queue.publishArrivalsAt(address + ARRIVALS)) {
      Memory.setLong(address + POLLS, pollTimeAddress);
    }
  }

  /** Returns the time of the newest device poll that this communicator has taken into account. */
  long polledNs() {
    return Memory.getLong(address + POLLED);
  }

  void setPolledNs(long atNs) {
    Memory.setLong(address + POLLED, atNs);
  }
}
