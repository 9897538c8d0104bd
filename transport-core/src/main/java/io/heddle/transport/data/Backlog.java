package io.heddle.transport.data;

/**
 * Numbers of what has chunks to be posted, in order: a ring of fixed size. Owned by whoever has the
 * {@link Baton}.
 */
final class Backlog {
  private final int[] ring;
  private long head;
  private long tail;

  /**
   * @param most how many may be in it; a power of two
   */
  Backlog(int most) {
    ring = new int[most];
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** The oldest one. There must be one. */
  int first() {
    return ring[(int) head & ring.length - 1];
  }

  void removeFirst() {
    head++;
  }

  void add(int number) {
    ring[(int) tail++ & ring.length - 1] = number;
  }

  void clear() {
    head = tail;
  }
}
