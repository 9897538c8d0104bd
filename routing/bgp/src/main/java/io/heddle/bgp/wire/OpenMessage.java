package io.heddle.bgp.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * OPEN: identity and capabilities of a speaker (RFC 4271 §4.2, RFC 5492, RFC 9072).
 *
 * <pre>
 * version 1 | AS 2 | hold time 2 | BGP identifier 4 | parameters' length 1 | parameters
 * RFC 9072: ... | 255 | 255 | real length 2 | parameters, whose lengths have two bytes
 * </pre>
 *
 * @param autonomousSystem AS number in the field of 16 bits: {@link ExtendedCommunity#AS_TRANS} if
 *     the real number needs more
 * @param holdTimeSeconds 0, or 3 and more
 * @param identifier the router id, not zero
 * @param extendedParameters whether the parameters have the form of RFC 9072
 */
public record OpenMessage(
    int autonomousSystem,
    int holdTimeSeconds,
    int identifier,
    List<Capability> capabilities,
    boolean extendedParameters)
    implements BgpMessage {
  public static final int VERSION = 4;

  public OpenMessage {
    capabilities = List.copyOf(capabilities);
  }

  /** Returns the real AS number. */
  public long realAutonomousSystem() {
    Capability.FourOctetAs four = find(Capability.FourOctetAs.class);
    return four != null ? four.autonomousSystem() : autonomousSystem;
  }

  /**
   * Returns why the OPEN's AS numbers are invalid (RFC 7607 §2, RFC 6793 §4.1 and §9); null if they
   * are valid.
   */
  public @Nullable String invalidAsReason() {
    Capability.FourOctetAs four = find(Capability.FourOctetAs.class);
    if (autonomousSystem == 0 || four != null && four.autonomousSystem() == 0) {
      return "the peer is in AS 0, which is reserved";
    }
    if (realAutonomousSystem() == ExtendedCommunity.AS_TRANS) {
      return "the peer is in AS 23456 (AS_TRANS), which is reserved";
    }
    if (four != null
        && autonomousSystem != ExtendedCommunity.AS_TRANS
        && autonomousSystem != four.autonomousSystem()) {
      return "the peer's OPEN has AS %s, but AS %s in its capability"
          .formatted(autonomousSystem, four.autonomousSystem());
    }
    return null;
  }

  public <T extends Capability> @Nullable T find(Class<T> type) {
    for (Capability each : capabilities) {
      if (type.isInstance(each)) {
        return type.cast(each);
      }
    }
    return null;
  }

  public boolean has(Class<? extends Capability> type) {
    return find(type) != null;
  }

  /**
   * Returns whether the speaker supports a family; a speaker that names no family supports IPv4
   * unicast (RFC 4760 §8).
   */
  public boolean supports(AddressFamily family) {
    return has(Capability.Multiprotocol.class)
        ? capabilities.contains(new Capability.Multiprotocol(family))
        : family.equals(AddressFamily.IPV4_UNICAST);
  }

  /**
   * Returns whether any of the speaker's capabilities offers filters for the family: some speakers
   * have one capability for each family.
   */
  public boolean acceptsPrefixFilters(AddressFamily family) {
    return capabilities.stream()
        .anyMatch(each ->
            each instanceof Capability.OutboundRouteFilter filter
                && filter.receivesPrefixFilters(family));
  }
}
