package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.WireOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of the OPEN exchange.
 *
 * @param peer the peer's OPEN
 * @param holdTimeSeconds the smaller of the two offered hold times; 0 for no hold timer
 * @param wire encoding of the messages that follow
 * @param routeRefresh whether the peer supports route refresh
 * @param enhancedRefresh whether the peer marks a refresh's begin and end (RFC 7313)
 * @param filtered families for which the peer accepts address prefix filters from us. The peer
 *     sends no routes of these families before it has received a filter or a refresh request
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

  /** Returns whether the peer accepts filters for any family. */
  public boolean hasFilters() {
    return !filtered.isEmpty();
  }

  public long peerAs() {
    return peer.realAutonomousSystem();
  }

  /** Returns the address families that both we and the peer speak. */
  public Families families() {
    return wire.families();
  }

  /**
   * Returns the peer's graceful restart capability; null if it is absent or covers no negotiated
   * family. It may cover only some families, see {@link #restartFamilies}.
   */
  public Capability.@Nullable GracefulRestart gracefulRestart() {
    Capability.GracefulRestart restart = peer.find(Capability.GracefulRestart.class);
    return restart != null && families().all().stream().anyMatch(restart::covers) ? restart : null;
  }

  /** Returns the families whose routes the peer wants kept while it restarts. */
  List<AddressFamily> restartFamilies() {
    Capability.GracefulRestart restart = gracefulRestart();
    return restart == null ? List.of() : families().all().stream().filter(restart::covers).toList();
  }

  /**
   * Returns the families whose routes are kept after an established session has ended like this, if
   * this side restarts gracefully (RFC 4724 §4.2 and RFC 8538 §4). After a failure that BFD or the
   * link reports none are kept, because packets no longer arrive.
   */
  List<AddressFamily> keptFamilies(SessionEnd.Cause cause) {
    Capability.GracefulRestart restart = gracefulRestart();
    if (restart == null) {
      return List.of();
    }
    return switch (cause) {
      case CONNECTION_LOST -> restartFamilies();
      case HOLD_TIMER, SEND_HOLD_TIMER, NOTIFICATION_RECEIVED ->
          restart.notifications() ? restartFamilies() : List.of();
      default -> List.of();
    };
  }
}
