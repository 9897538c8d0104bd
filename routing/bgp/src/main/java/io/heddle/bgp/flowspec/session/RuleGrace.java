package io.heddle.bgp.flowspec.session;

/**
 * Time for which rules stay in the table after their session is lost.
 *
 * @param withRestartNs time if the peer requested graceful restart (RFC 4724)
 * @param withoutRestartNs time if the peer didn't request it; 0 to remove the rules at once
 */
public record RuleGrace(long withRestartNs, long withoutRestartNs) {
  /** Default: one minute with graceful restart, none without it. */
  public static final RuleGrace DEFAULT = new RuleGrace(60_000_000_000L, 0);
}
