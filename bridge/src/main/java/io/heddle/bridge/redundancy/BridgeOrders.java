package io.heddle.bridge.redundancy;

import io.heddle.bridge.peer.PeerProtocol;
import io.heddle.bridge.peer.Role;
import io.heddle.bridge.peer.View;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Handler of operators' orders to one of several redundant bridges. Each order waits at most
 * {@value #LIMIT_S} seconds until all live bridges have applied it, and returns the result.
 * Thread-safe.
 */
public final class BridgeOrders {
  private static final long LIMIT_S = 10;
  private static final long LIMIT_NS = LIMIT_S * 1_000_000_000;

  private final Peering peering;
  private final Function<String, Gid> addresses;

  /**
   * Result of an order.
   *
   * @param followed whether all live bridges have applied the order in time
   * @param owned number of groups that this bridge owns now
   * @param text description for people
   */
  public record Outcome(boolean followed, int owned, String text) {}

  /**
   * @param addresses returns the address of the group with a name
   */
  public BridgeOrders(Peering peering, Function<String, Gid> addresses) {
    this.peering = peering;
    this.addresses = addresses;
  }

  /**
   * Drains this bridge: it gives up all groups, and takes over no others.
   *
   * @throws HeddleException if no other bridge could take over
   */
  public Outcome drain() throws InterruptedException {
    peering.order(protocol -> {
      if (!protocol.hasEligiblePeer()) {
        throw new HeddleException(
            "no other bridge could take over, so nothing was drained; see"
                + " heddle bridge show, or end this bridge");
      }
      protocol.setDraining(true);
      return true;
    });
    return outcome(protocol -> protocol.owned() == 0, "this bridge is drained");
  }

  /** Ends the drain: this bridge may own groups again. */
  public Outcome endDrain() throws InterruptedException {
    peering.order(protocol -> {
      protocol.setDraining(false);
      return true;
    });
    return outcome(protocol -> true, "this bridge is no longer drained");
  }

  /**
   * Holds this bridge in reserve: it owns nothing while another bridge can.
   *
   * @param on false ends the reserve
   */
  public Outcome setReserve(boolean on) throws InterruptedException {
    peering.order(protocol -> {
      protocol.setReserve(on);
      return true;
    });
    return outcome(
        protocol -> true, on ? "this bridge is in reserve" : "this bridge is no longer in reserve");
  }

  /** Assigns a group to this bridge. */
  public Outcome take(String group) throws InterruptedException {
    Gid address = addresses.apply(group);
    peering.order(protocol -> {
      if (!protocol.isMember()) {
        throw new HeddleException(
            "this bridge can own no group now: it is "
                + protocol.state().word()
                + (protocol.linksUp() == 3 ? "" : ", and a fabric's link is down"));
      }
      return pin(protocol, group, address, protocol.id());
    });
    return outcome(protocol -> protocol.roleOf(address) == Role.OWNER, "this bridge owns " + group);
  }

  /**
   * Assigns a group to another bridge.
   *
   * @throws HeddleException if no other bridge could own the group
   */
  public Outcome yield(String group) throws InterruptedException {
    Gid address = addresses.apply(group);
    int other =
        peering.order(protocol -> {
          int heir = protocol.ownerWithoutThis(address);
          if (heir == View.NOBODY) {
            throw new HeddleException(
                "no other bridge could own " + group + "; see heddle bridge show");
          }
          return pin(protocol, group, address, heir);
        });
    return outcome(
        protocol -> protocol.roleOf(address) == Role.STANDBY, "bridge " + other + " owns " + group);
  }

  /**
   * Withdraws the order that assigned a group to a bridge. The configuration or a hash determines
   * the group's owner again.
   */
  public Outcome release(String group) throws InterruptedException {
    Gid address = addresses.apply(group);
    peering.order(protocol -> pin(protocol, group, address, View.NOBODY));
    return outcome(
        protocol -> protocol.roleOf(address) != Role.NO_OWNER, "no order is left for " + group);
  }

  private static int pin(PeerProtocol protocol, String group, Gid address, int owner) {
    if (!protocol.pin(address, owner)) {
      throw new HeddleException(
          "the table of orders is full; withdraw one with --end, or"
              + " set owner = "
              + owner
              + " for group "
              + group
              + " in the configuration of all bridges");
    }
    return owner;
  }

  private Outcome outcome(Predicate<PeerProtocol> what, String done) throws InterruptedException {
    boolean followed =
        peering.await(
            protocol -> protocol.isDecided() && protocol.isSettled() && what.test(protocol),
            LIMIT_NS);
    int owned = peering.order(PeerProtocol::owned);
    return new Outcome(
        followed,
        owned,
        followed
            ? done + "; it owns " + owned + (owned == 1 ? " group" : " groups")
            : "the order is given, but not all bridges have followed within "
                + LIMIT_S
                + " s; see heddle bridge show");
  }
}
