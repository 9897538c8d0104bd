package io.heddle.bgp.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Routes that came and went (RFC 4271 §4.3, RFC 4760): IPv6 unicast only.
 *
 * @param withdrawn routes that are gone, those of a malformed announcement among them (RFC 7606)
 * @param announced routes that are there, replacing earlier ones of the same prefix
 * @param attributes of all announced routes; empty where none is announced
 * @param nextHop of all announced routes
 * @param faults what was malformed and survived
 * @param ignored announced prefixes that can be nobody's route and were passed over
 * @param skippedFamilies runs of routes of other address families, which aren't read
 */
public record UpdateMessage(
    Nlri withdrawn,
    Nlri announced,
    PathAttributes attributes,
    @Nullable NextHop nextHop,
    List<AttributeFault> faults,
    int ignored,
    int skippedFamilies)
    implements BgpMessage {
  public static final UpdateMessage END_OF_RIB = withdraw(Nlri.EMPTY);

  public UpdateMessage {
    faults = List.copyOf(faults);
  }

  public static UpdateMessage withdraw(Nlri withdrawn) {
    return new UpdateMessage(withdrawn, Nlri.EMPTY, PathAttributes.EMPTY, null, List.of(), 0, 0);
  }

  public static UpdateMessage announce(Nlri announced, PathAttributes attributes, NextHop nextHop) {
    return new UpdateMessage(Nlri.EMPTY, announced, attributes, nextHop, List.of(), 0, 0);
  }

  /** Whether it says that the first dump of IPv6 unicast is over (RFC 4724 §2). */
  public boolean isEndOfRib() {
    return withdrawn.isEmpty()
        && announced.isEmpty()
        && faults.isEmpty()
        && skippedFamilies == 0
        && attributes.isEmpty();
  }
}
