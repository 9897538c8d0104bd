package io.heddle.platform;

import java.util.HexFormat;

/** Parser of whole numbers that people write. */
public final class NumberText {
  private NumberText() {}

  /**
   * Returns a number that is written in decimal, or in hexadecimal after {@code 0x}. Leading zeros
   * change nothing, while {@link Long#decode} would read 010 as octal.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static long parse(String text) {
    boolean hexadecimal = text.length() > 2 && (text.startsWith("0x") || text.startsWith("0X"));
    return hexadecimal
        ? HexFormat.fromHexDigitsToLong(text, 2, text.length())
        : Long.parseLong(text);
  }
}
