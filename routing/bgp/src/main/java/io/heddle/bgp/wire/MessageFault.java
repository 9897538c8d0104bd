package io.heddle.bgp.wire;

/**
 * Bytes after which the session can't go on: framing is lost, or the peer asks for what can't be.
 *
 * @param notification what to send before closing
 * @param why for the log, with the values
 */
public record MessageFault(NotificationMessage notification, String why) implements Decoded {
  static MessageFault of(int code, int subcode, byte[] data, String why) {
    return new MessageFault(new NotificationMessage(code, subcode, data), why);
  }

  static MessageFault of(int code, int subcode, String why) {
    return of(code, subcode, new byte[0], why);
  }
}
