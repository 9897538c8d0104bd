package io.heddle.platform;

/**
 * Number in an NCCL variable, parsed as by NCCL with {@code strtoll(text, NULL, 0)}
 * (misc/param.cc). So {@code 0x16} and {@code 026} are 22, text after the digits is ignored, and a
 * text without digits is 0. If the number doesn't fit 64 bits, NCCL uses its default.
 */
public final class NcclNumber {
  private NcclNumber() {}

  /** Returns whether the whole text is a number in a form that NCCL reads. */
  public static boolean isWhole(String text) {
    return text.strip().matches("[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)");
  }

  /** Returns whether the number fits 64 bits. */
  public static boolean fits(String text) {
    return parse(text, 0) == parse(text, 1);
  }

  /** Returns the value, or the default if the number doesn't fit 64 bits. */
  public static long parse(String text, long defaultValue) {
    int at = 0;
    while (at < text.length() && isSpace(text.charAt(at))) {
      at++;
    }
    boolean negative = at < text.length() && text.charAt(at) == '-';
    if (at < text.length() && (negative || text.charAt(at) == '+')) {
      at++;
    }
    int base = base(text, at);
    if (base == 16) {
      at += 2;
    }
    int end = at;
    while (end < text.length() && digit(text, end, base) >= 0) {
      end++;
    }
    if (end == at) {
      return 0;
    }
    try {
      return Long.parseLong((negative ? "-" : "") + text.substring(at, end), base);
    } catch (NumberFormatException tooLarge) {
      return defaultValue;
    }
  }

  /*
   * Returns the base of the number at this position. 0x is a prefix only if a hexadecimal digit
   * follows.
   */
  private static int base(String text, int at) {
    if (!text.startsWith("0", at)) {
      return 10;
    }
    boolean marked = text.startsWith("x", at + 1) || text.startsWith("X", at + 1);
    return marked && digit(text, at + 2, 16) >= 0 ? 16 : 8;
  }

  /*
   * Returns the value of an ASCII digit, or -1. Character.digit alone would also accept digits of
   * other scripts.
   */
  private static int digit(String text, int at, int base) {
    char character = at < text.length() ? text.charAt(at) : ' ';
    return character < 128 ? Character.digit(character, base) : -1;
  }

  /* Returns whether isspace() of the C locale accepts the character. */
  private static boolean isSpace(char character) {
    return character == ' ' || character >= '\t' && character <= '\r';
  }
}
