package io.heddle.flowspec.session;

/**
 * How long rules stay when their session is lost.
 *
 * @param ns at most, where the peer asked for graceful restart (RFC 4724)
 * @param without the same where it didn't; 0 for not at all
 */
public record RuleGrace(long ns, long without) {
  /** A minute where the peer wants it, and otherwise none. */
  public static final RuleGrace DEFAULT = new RuleGrace(60_000_000_000L, 0);
}
