package io.heddle.bgp.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * NOTIFICATION, the reason for the session's end (RFC 4271 §4.5, RFC 4486, RFC 9003, RFC 8538, RFC
 * 7313, RFC 9234).
 *
 * <pre>
 * code 1 | sub-code 1 | data
 * </pre>
 */
public record NotificationMessage(int code, int subcode, byte[] body) implements BgpMessage {
  public static final int HEADER_ERROR = 1;
  public static final int OPEN_ERROR = 2;
  public static final int UPDATE_ERROR = 3;
  public static final int HOLD_TIMER_EXPIRED = 4;
  public static final int FSM_ERROR = 5;
  public static final int CEASE = 6;
  public static final int ROUTE_REFRESH_ERROR = 7;
  public static final int SEND_HOLD_TIMER_EXPIRED = 8;

  public static final int NOT_SYNCHRONIZED = 1;
  public static final int BAD_MESSAGE_LENGTH = 2;
  public static final int BAD_MESSAGE_TYPE = 3;

  public static final int UNSUPPORTED_VERSION = 1;
  public static final int BAD_PEER_AS = 2;
  public static final int BAD_IDENTIFIER = 3;
  public static final int UNSUPPORTED_PARAMETER = 4;
  public static final int UNACCEPTABLE_HOLD_TIME = 6;
  public static final int UNSUPPORTED_CAPABILITY = 7;
  public static final int ROLE_MISMATCH = 11;

  public static final int MALFORMED_ATTRIBUTE_LIST = 1;
  public static final int OPTIONAL_ATTRIBUTE_ERROR = 9;
  public static final int INVALID_NETWORK_FIELD = 10;

  public static final int ADMINISTRATIVE_SHUTDOWN = 2;
  public static final int PEER_DECONFIGURED = 3;
  public static final int ADMINISTRATIVE_RESET = 4;
  public static final int CONNECTION_REJECTED = 5;
  public static final int COLLISION = 7;
  public static final int HARD_RESET = 9;
  public static final int BFD_DOWN = 10;

  private static final int LONGEST_TEXT = 255;

  public NotificationMessage(int code, int subcode) {
    this(code, subcode, new byte[0]);
  }

  /**
   * Returns a Cease with a sentence for the other end's operator (RFC 9003), truncated to 255
   * bytes.
   */
  public static NotificationMessage cease(int subcode, String sentence) {
    byte[] text = sentence.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, LONGEST_TEXT);
    while (length < text.length && length > 0 && (text[length] & 0xc0) == 0x80) {
      length--;
    }
    byte[] body = new byte[1 + length];
    body[0] = (byte) length;
    System.arraycopy(text, 0, body, 1, length);
    return new NotificationMessage(CEASE, subcode, length == 0 ? new byte[0] : body);
  }

  /** Returns the sentence of the other end's operator; empty if absent or truncated. */
  public String shutdownText() {
    boolean mayHaveText =
        code == CEASE && (subcode == ADMINISTRATIVE_SHUTDOWN || subcode == ADMINISTRATIVE_RESET);
    if (!mayHaveText || body.length < 1 || (body[0] & 0xff) > body.length - 1) {
      return "";
    }
    String text = new String(body, 1, body[0] & 0xff, StandardCharsets.UTF_8);
    return text.replaceAll("\\p{Cntrl}", " ");
  }

  /** Returns a text such as {@code Cease/administrative shutdown (6/2) "plane-1 maintenance"}. */
  public String describe() {
    String text = shutdownText();
    String rest = "";
    if (!text.isEmpty()) {
      rest = " \"" + text + "\"";
    } else if (body.length > 0) {
      rest = " with " + HexFormat.of().formatHex(body, 0, Math.min(body.length, 32));
    }
    return NotificationNames.of(code, subcode) + " (" + code + "/" + subcode + ")" + rest;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NotificationMessage that
        && code == that.code
        && subcode == that.subcode
        && Arrays.equals(body, that.body);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * code + subcode) + Arrays.hashCode(body);
  }

  @Override
  public String toString() {
    return describe();
  }
}
