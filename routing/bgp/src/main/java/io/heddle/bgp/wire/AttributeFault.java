package io.heddle.bgp.wire;

/**
 * An attribute that is malformed, and what RFC 7606 makes of it; the session goes on.
 *
 * @param code the attribute's number
 * @param why what is wrong, with the values
 */
public record AttributeFault(Treatment treatment, int code, String why) {
  /** From weakest to strongest. */
  public enum Treatment {
    /** Single routes are passed over or count as withdrawn, the others stay (RFC 4271 §6.3). */
    IGNORE,
    /** The attribute is left out, the routes stay. */
    DISCARD,
    /** The routes of the UPDATE count as withdrawn. */
    WITHDRAW
  }
}
