package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** Messages captured from real daemons, and builders for others. */
final class WireMessages {
  static final WireOptions OPTIONS = WireOptions.DEFAULT;
  private static final String MARKER = "ff".repeat(16);

  private WireMessages() {}

  /** Returns the captured messages, header included, by name. */
  static Map<String, byte[]> fromDaemons() throws IOException {
    Map<String, byte[]> messages = new LinkedHashMap<>();
    try (InputStream file = WireMessages.class.getResourceAsStream("messages.txt")) {
      assertNotNull(file);
      for (String line : new String(file.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
        if (!line.startsWith("#")) {
          String[] parts = line.split(":");
          messages.put(parts[0], bytes(MARKER + parts[1]));
        }
      }
    }
    return messages;
  }

  static byte[] fromDaemon(String name) throws IOException {
    byte[] found = fromDaemons().get(name);
    assertNotNull(found, name);
    return found;
  }

  static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  /** Returns a message around a body. */
  static byte[] message(int type, String body) {
    byte[] content = bytes(body);
    String header = "%04x%02x".formatted(BgpMessage.HEADER_BYTES + content.length, type);
    return bytes(MARKER + header + HexFormat.of().formatHex(content));
  }

  /** Returns an UPDATE with these attributes. */
  static byte[] update(String attributes) {
    int length = bytes(attributes).length;
    return message(2, "0000 %04x".formatted(length) + attributes);
  }

  static DecodeResult decode(byte[] message) {
    return decode(message, OPTIONS);
  }

  static DecodeResult decode(byte[] message, WireOptions options) {
    DecodeResult decoded = new MessageDecoder(options).decode(message, 0, message.length);
    assertNotNull(decoded, "more bytes are wanted than the message has");
    return decoded;
  }

  static <T extends DecodeResult> T decode(Class<T> type, byte[] message) {
    return assertInstanceOf(type, decode(message));
  }
}
