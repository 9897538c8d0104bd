package io.heddle.bgp.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Codec of a family for tests only: routes are words of letters and have no next hop.
 *
 * <pre>
 * length 1 | letters
 * </pre>
 */
public record WordsCodec(AddressFamily family) implements FamilyCodec<String> {
  /** SAFIs from 241 are for private use (RFC 4760 §9). */
  public static final WordsCodec INSTANCE = new WordsCodec(new AddressFamily(2, 250));

  @Override
  public boolean hasNextHop() {
    return false;
  }

  @Override
  public String decode(ByteBuffer routes, Sink<String> sink) {
    while (routes.hasRemaining()) {
      int length = routes.get() & 0xff;
      if (length > routes.remaining()) {
        return "a word of " + length + " letters where " + routes.remaining() + " are left";
      }
      byte[] letters = new byte[length];
      routes.get(letters);
      String word = new String(letters, StandardCharsets.ISO_8859_1);
      if (word.chars().allMatch(Character::isLetter)) {
        sink.route(word);
      } else {
        sink.malformed(word, "a word of other things than letters");
      }
    }
    return null;
  }

  @Override
  public byte[] encode(String word) {
    byte[] letters = word.getBytes(StandardCharsets.ISO_8859_1);
    return ByteBuffer.allocate(1 + letters.length).put((byte) letters.length).put(letters).array();
  }
}
