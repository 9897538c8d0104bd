package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.WireOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What two speakers agreed on.
 *
 * @param peer the peer's OPEN
 * @param holdTimeSeconds the smaller of both; 0 for none
 * @param wire how messages are read and written from now on
 * @param routeRefresh whether the peer sends its routes again on request
 * @param enhancedRefresh whether it marks where they begin and end (RFC 7313)
 * @param filtered families of which it takes address prefix filters from us: it sends none of their
 *     routes before it has a filter or a request
 */
public record Negotiated(
    OpenMessage peer,
    int holdTimeSeconds,
    WireOptions wire,
    boolean routeRefresh,
    boolean enhancedRefresh,
    List<AddressFamily> filtered) {
  public Negotiated {
    filtered = List.copyOf(filtered);
  }

  /** Whether it takes filters of any family. */
  public boolean filters() {
    return !filtered.isEmpty();
  }

  public long peerAs() {
    return peer.realAutonomousSystem();
  }

  /** Address families that both speak. */
  public Families families() {
    return wire.families();
  }

  /**
   * What the peer wants done with its routes when it restarts; null for nothing. It may want it of
   * some families alone, which {@link #kept} names.
   */
  public Capability.@Nullable GracefulRestart gracefulRestart() {
    Capability.GracefulRestart restart = peer.find(Capability.GracefulRestart.class);
    return restart != null && families().all().stream().anyMatch(restart::covers) ? restart : null;
  }

  /** Families whose routes the peer wants kept while it restarts. */
  List<AddressFamily> kept() {
    Capability.GracefulRestart restart = gracefulRestart();
    return restart == null ? List.of() : families().all().stream().filter(restart::covers).toList();
  }
}
