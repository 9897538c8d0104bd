package io.heddle.flowspec.session;

/**
 * Time for which rules stay after their session is lost.
 *
 * @param withRestartNs limit if the peer requested graceful restart (RFC 4724)
 * @param withoutRestartNs limit if it didn't; 0 for not at all
 */
public record RuleGrace(long withRestartNs, long withoutRestartNs) {
  /** A minute with graceful restart, otherwise none. */
  public static final RuleGrace DEFAULT = new RuleGrace(60_000_000_000L, 0);
}
