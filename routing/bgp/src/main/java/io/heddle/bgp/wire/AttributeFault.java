package io.heddle.bgp.wire;

/**
 * A malformed attribute and its treatment by RFC 7606; the session stays up.
 *
 * @param code type code of the attribute
 * @param why description of the fault, with the values
 */
public record AttributeFault(Treatment treatment, int code, String why) {
  /** Treatments from weakest to strongest. */
  public enum Treatment {
    /** Single routes are ignored or treated as withdrawn; the other routes stay (RFC 4271 §6.3). */
    IGNORE,
    /** The attribute is discarded, the routes stay. */
    DISCARD,
    /** The routes of the UPDATE are treated as withdrawn. */
    WITHDRAW
  }
}
