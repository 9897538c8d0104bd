package io.heddle.bgp.wire;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Prefixes of one UPDATE in arrays of numbers, IPv4 prefixes as mapped ones. A route needs 17 bytes
 * and no object, which matters for a full feed. Immutable.
 */
public final class Nlri {
  public static final Nlri EMPTY = new Nlri(new long[0], new byte[0], 0);

  /** Visitor of {@link #forEach}. */
  @FunctionalInterface
  public interface Visitor {
    void visit(long high, long low, int length);
  }

  /** Condition on a prefix. */
  @FunctionalInterface
  interface PrefixPredicate {
    boolean test(long high, long low, int length);
  }

  private final long[] words;
  private final byte[] lengths;
  private final int size;

  /**
   * @param words upper and lower half of each prefix; bits behind its length are zero
   * @param lengths prefix lengths, as unsigned bytes
   */
  Nlri(long[] words, byte[] lengths, int size) {
    this.words = words;
    this.lengths = lengths;
    this.size = size;
  }

  public static Nlri of(Prefix... prefixes) {
    return of(List.of(prefixes));
  }

  public static Nlri of(Collection<Prefix> prefixes) {
    if (prefixes.isEmpty()) {
      return EMPTY;
    }
    long[] words = new long[2 * prefixes.size()];
    byte[] lengths = new byte[prefixes.size()];
    int at = 0;
    for (Prefix prefix : prefixes) {
      words[2 * at] = prefix.high();
      words[2 * at + 1] = prefix.low();
      lengths[at++] = (byte) prefix.length();
    }
    return new Nlri(words, lengths, at);
  }

  public int size() {
    return size;
  }

  public boolean isEmpty() {
    return size == 0;
  }

  public long high(int index) {
    return words[2 * index];
  }

  public long low(int index) {
    return words[2 * index + 1];
  }

  public int length(int index) {
    return lengths[index] & 0xff;
  }

  public Prefix prefix(int index) {
    return new Prefix(high(index), low(index), length(index));
  }

  public void forEach(Visitor visitor) {
    for (int i = 0; i < size; i++) {
      visitor.visit(words[2 * i], words[2 * i + 1], lengths[i] & 0xff);
    }
  }

  public List<Prefix> prefixes() {
    return IntStream.range(0, size).mapToObj(this::prefix).toList();
  }

  /** Returns these prefixes followed by others. */
  public Nlri plus(Nlri more) {
    if (isEmpty() || more.isEmpty()) {
      return isEmpty() ? more : this;
    }
    long[] allWords = Arrays.copyOf(words, 2 * (size + more.size));
    byte[] allLengths = Arrays.copyOf(lengths, size + more.size);
    System.arraycopy(more.words, 0, allWords, 2 * size, 2 * more.size);
    System.arraycopy(more.lengths, 0, allLengths, size, more.size);
    return new Nlri(allWords, allLengths, size + more.size);
  }

  /** Returns the prefixes of one family. */
  Nlri of(AddressFamily family) {
    boolean ipv4 = family.equals(AddressFamily.IPV4_UNICAST);
    for (int i = 0; i < size; i++) {
      if (Prefix.isIpv4(high(i), low(i), length(i)) != ipv4) {
        return without((high, low, length) -> Prefix.isIpv4(high, low, length) != ipv4);
      }
    }
    return this;
  }

  /** Returns the prefixes that don't fulfil the condition. */
  Nlri without(PrefixPredicate predicate) {
    long[] leftWords = new long[2 * size];
    byte[] leftLengths = new byte[size];
    int left = 0;
    for (int i = 0; i < size; i++) {
      if (!predicate.test(high(i), low(i), length(i))) {
        leftWords[2 * left] = high(i);
        leftWords[2 * left + 1] = low(i);
        leftLengths[left++] = lengths[i];
      }
    }
    return left == 0 ? EMPTY : new Nlri(leftWords, leftLengths, left);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Nlri that
        && size == that.size
        && Arrays.equals(words, 0, 2 * size, that.words, 0, 2 * size)
        && Arrays.equals(lengths, 0, size, that.lengths, 0, size);
  }

  @Override
  public int hashCode() {
    int hash = size;
    for (int i = 0; i < size; i++) {
      hash = 31 * hash + Long.hashCode(words[2 * i] * 31 + words[2 * i + 1]);
    }
    return hash;
  }

  @Override
  public String toString() {
    return prefixes().toString();
  }
}
