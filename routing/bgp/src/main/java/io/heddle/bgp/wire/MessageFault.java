package io.heddle.bgp.wire;

/**
 * Malformed message after which the session can't continue: framing is lost, or a value is
 * impossible.
 *
 * @param notification message to send before the connection is closed
 * @param why description for the log, with the values
 */
public record MessageFault(NotificationMessage notification, String why) implements DecodeResult {
  static MessageFault of(int code, int subcode, byte[] data, String why) {
    return new MessageFault(new NotificationMessage(code, subcode, data), why);
  }

  static MessageFault of(int code, int subcode, String why) {
    return of(code, subcode, new byte[0], why);
  }
}
