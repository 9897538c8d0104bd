package io.heddle.transport.control;

import java.nio.ByteBuffer;
import java.util.Locale;

/**
 * Description of the first bytes of a peer that doesn't speak Heddle's protocol, for a log: the
 * likely kind of program, or the text that it sent.
 */
final class ForeignProtocol {
  private static final int MOST_QUOTED = 60;
  private static final int FEWEST_READABLE = 4;
  private static final int SHOWN_BYTES = 8;
  private static final int TLS_ALERT = 0x15;
  private static final int TLS_HANDSHAKE = 0x16;
  private static final int TLS_MAJOR_VERSION = 3;
  private static final int HTTP2_SETTINGS = 4;
  private static final int HTTP2_HEADER_BYTES = 9;

  private ForeignProtocol() {}

  /**
   * Describes the bytes.
   *
   * @param said buffer with the bytes from its position on; the position isn't changed
   * @param otherwise sentence for bytes that are neither known nor readable; the first bytes are
   *     appended in hexadecimal
   */
  static String describe(ByteBuffer said, String otherwise) {
    byte[] bytes = new byte[Math.min(said.remaining(), MOST_QUOTED)];
    said.get(said.position(), bytes);
    String binary = ofBinary(bytes);
    if (!binary.isEmpty()) {
      return binary + "; it isn't Heddle";
    }
    String line = firstLine(bytes);
    return line.length() < FEWEST_READABLE
        ? otherwise + ", which begins with " + hex(bytes)
        : "it said \"%s\"%s; it isn't Heddle".formatted(line, speaker(line));
  }

  private static String ofBinary(byte[] bytes) {
    if (bytes.length > 1 && bytes[1] == TLS_MAJOR_VERSION) {
      if (bytes[0] == TLS_ALERT) {
        return "it sent a TLS alert"
            + (bytes.length > 6 ? " (number " + (bytes[6] & 0xff) + ")" : "")
            + ", as a server of HTTPS or another service over TLS does";
      }
      if (bytes[0] == TLS_HANDSHAKE) {
        return "it began a TLS handshake";
      }
    }
    if (bytes.length >= HTTP2_HEADER_BYTES && bytes[0] == 0 && bytes[3] == HTTP2_SETTINGS) {
      int flagsAndStream = 0;
      for (int i = 4; i < HTTP2_HEADER_BYTES; i++) {
        flagsAndStream |= bytes[i];
      }
      if (flagsAndStream == 0) {
        return "it sent settings of HTTP/2, as a server of HTTP/2 or gRPC does";
      }
    }
    return "";
  }

  private static String speaker(String line) {
    if (line.startsWith("HTTP/")) {
      return ", as a web server or an HTTP proxy answers";
    }
    if (line.startsWith("SSH-")) {
      return ", as an SSH server does";
    }
    if (line.startsWith("220")) {
      return ", as a mail or FTP server does";
    }
    if (line.startsWith("RFB ")) {
      return ", as a VNC server does";
    }
    return line.matches("(GET|HEAD|POST|PUT|OPTIONS|CONNECT|PRI) .*")
        ? ", as a web client or a scanner asks"
        : "";
  }

  /* Returns the text up to the end of the line; empty where another control byte comes first. */
  private static String firstLine(byte[] bytes) {
    StringBuilder line = new StringBuilder();
    for (byte each : bytes) {
      if (each < 0x20 || each == 0x7f) {
        return each == '\r' || each == '\n' ? line.toString() : "";
      }
      line.append((char) each);
    }
    return line.toString();
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(bytes.length, SHOWN_BYTES); i++) {
      text.append(String.format(Locale.ROOT, i == 0 ? "%02x" : " %02x", bytes[i]));
    }
    return text.toString();
  }
}
