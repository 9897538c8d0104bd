package io.heddle.softroce;

/** How many trains a device has lent to the kernel. Under the progress lock. */
final class LentTrains {
  private long count;

  /** One more. */
  void add() {
    count++;
  }

  long count() {
    return count;
  }
}
