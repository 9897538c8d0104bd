package io.heddle.transport.connection;

import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlMessage;
import java.util.ArrayDeque;

/**
 * Numbered messages of one end, kept until the peer acknowledges them, so that they can be sent
 * again on another channel. Control thread.
 */
final class SentMessages {
  private final ArrayDeque<ControlMessage> unacknowledged = new ArrayDeque<>();
  private long acknowledged;

  void add(ControlMessage message) {
    unacknowledged.add(message);
  }

  /** Forgets the messages below this number. */
  void acknowledge(long count) {
    while (acknowledged < count && !unacknowledged.isEmpty()) {
      unacknowledged.remove();
      acknowledged++;
    }
  }

  /**
   * Returns the number of messages that the peer has acknowledged: the oldest kept one's number.
   */
  long acknowledged() {
    return acknowledged;
  }

  /** Returns the number of the next message. */
  long next() {
    return acknowledged + unacknowledged.size();
  }

  /** Sends all kept messages again. */
  void resend(ControlChannel channel) {
    unacknowledged.forEach(channel::send);
  }
}
