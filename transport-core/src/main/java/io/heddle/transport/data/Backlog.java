package io.heddle.transport.data;

/**
 * Ring of fixed size with the numbers of the requests that have chunks to be posted, oldest first.
 * Owned by the holder of the {@link Baton}.
 */
final class Backlog {
  private final int[] ring;
  private long head;
  private long tail;

  /**
   * @param capacity maximum number of requests; a power of two
   */
  Backlog(int capacity) {
    ring = new int[capacity];
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** Returns the oldest request number; the ring must not be empty. */
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
