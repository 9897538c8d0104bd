package io.heddle.bgp.flowspec.rule;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;

/**
 * Comparison operator with its value (RFC 8955 §4.2.1).
 *
 * <pre>
 * e 1 | and 1 | length 2 | 0 1 | lt 1 | gt 1 | eq 1      numeric
 * e 1 | and 1 | length 2 | 0 2 | not 1 | match 1         bitmask
 * </pre>
 *
 * @param operator the octet on the wire, with its reserved bits
 * @param value unsigned value, of 1, 2, 4 or 8 bytes on the wire
 */
public record ValueTerm(int operator, long value) {
  public static final int END = 0x80;
  public static final int AND = 0x40;
  public static final int LESS = 0x04;
  public static final int GREATER = 0x02;
  public static final int EQUAL = 0x01;
  public static final int NOT = 0x02;
  public static final int MATCH = 0x01;

  /**
   * Returns a term that tests for equality and has the end bit: the last or only term of a list.
   */
  public static ValueTerm equal(long value, int bytes) {
    return new ValueTerm(END | Integer.numberOfTrailingZeros(bytes) << 4 | EQUAL, value);
  }

  /** Returns the number of bytes of the value that follows this operator. */
  public static int bytes(int operator) {
    return 1 << (operator >>> 4 & 3);
  }

  public boolean isEnd() {
    return (operator & END) != 0;
  }

  public boolean isAnd() {
    return (operator & AND) != 0;
  }

  private boolean numeric(long data) {
    int order = Long.compareUnsigned(data, value);
    int bit = order < 0 ? LESS : order > 0 ? GREATER : EQUAL;
    return (operator & bit) != 0;
  }

  private boolean bitmask(long data) {
    boolean holds = (operator & MATCH) != 0 ? (data & value) == value : (data & value) != 0;
    return holds != ((operator & NOT) != 0);
  }

  private boolean holds(long data, boolean numeric) {
    return numeric ? numeric(data) : bitmask(data);
  }

  /*
   * Returns whether the terms hold for a field's data. AND binds more tightly than OR; the first
   * term's AND bit is ignored (RFC 8955 §4.2.1.1).
   */
  static boolean hold(List<ValueTerm> terms, long data, boolean numeric) {
    boolean any = false;
    boolean all = false;
    for (int i = 0; i < terms.size(); i++) {
      ValueTerm term = terms.get(i);
      if (i > 0 && term.isAnd()) {
        all &= term.holds(data, numeric);
      } else {
        any |= all;
        all = term.holds(data, numeric);
      }
    }
    return any | all;
  }

  static void write(List<ValueTerm> terms, ByteArrayOutputStream out) {
    for (ValueTerm term : terms) {
      out.write(term.operator);
      for (int i = bytes(term.operator) - 1; i >= 0; i--) {
        out.write((int) (term.value >>> 8 * i));
      }
    }
  }

  static void check(List<ValueTerm> terms) {
    for (int i = 0; i < terms.size(); i++) {
      if (terms.get(i).isEnd() != (i == terms.size() - 1)) {
        throw new IllegalArgumentException("only the last term of a list has the end bit");
      }
    }
    if (terms.isEmpty()) {
      throw new IllegalArgumentException("a component has at least one term");
    }
  }

  /*
   * Compares two lists by precedence (RFC 8955 §5.1): as octets; if one list begins with the other,
   * the longer list comes first.
   */
  static int precedence(List<ValueTerm> ours, List<ValueTerm> theirs) {
    byte[] left = octets(ours);
    byte[] right = octets(theirs);
    int common = Math.min(left.length, right.length);
    int order = Arrays.compareUnsigned(left, 0, common, right, 0, common);
    return order != 0 ? order : Integer.compare(right.length, left.length);
  }

  private static byte[] octets(List<ValueTerm> terms) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    write(terms, out);
    return out.toByteArray();
  }

  String text(boolean numeric) {
    String number = Long.toUnsignedString(value);
    if (!numeric) {
      String mask = "0x" + Long.toHexString(value);
      return ((operator & NOT) != 0 ? "not " : "")
          + ((operator & MATCH) != 0 ? "all of " : "any of ")
          + mask;
    }
    return switch (operator & (LESS | GREATER | EQUAL)) {
      case EQUAL -> number;
      case LESS -> "< " + number;
      case GREATER -> "> " + number;
      case LESS | EQUAL -> "<= " + number;
      case GREATER | EQUAL -> ">= " + number;
      case LESS | GREATER -> "not " + number;
      case LESS | GREATER | EQUAL -> "any";
      default -> "never";
    };
  }

  static String text(List<ValueTerm> terms, boolean numeric) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < terms.size(); i++) {
      if (i > 0) {
        text.append(terms.get(i).isAnd() ? " and " : " or ");
      }
      text.append(terms.get(i).text(numeric));
    }
    return text.toString();
  }
}
