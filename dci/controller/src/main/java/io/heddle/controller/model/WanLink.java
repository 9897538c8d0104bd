package io.heddle.controller.model;

/**
 * Link of the wide area network, in one direction.
 *
 * @param capacity capacity in bits per second
 * @param rate measured rate in bits per second
 * @param sampledNs time of the measurement
 */
public record WanLink(String name, double capacity, double rate, long sampledNs) {
  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if the capacity isn't above 0 or the rate is below 0
   */
  public WanLink {
    if (!(capacity > 0) || !(rate >= 0)) {
      throw new IllegalArgumentException(
          "link %s: capacity %s and rate %s bit/s are out of range"
              .formatted(name, capacity, rate));
    }
  }
}
