package io.heddle.controller.model;

/**
 * A link of the wide area network, in one direction.
 *
 * @param capacity in bits a second
 * @param rate measured, in bits a second
 * @param sampledNs when
 */
public record WanLink(String name, double capacity, double rate, long sampledNs) {
  /**
   * @throws IllegalArgumentException where no link can be so
   */
  public WanLink {
    if (!(capacity > 0) || !(rate >= 0)) {
      throw new IllegalArgumentException(
          "link %s: capacity %s and rate %s bit/s can't be".formatted(name, capacity, rate));
    }
  }
}
