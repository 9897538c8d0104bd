package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ownership protocol of one bridge among several: it receives beacons, decides which groups this
 * bridge owns, and builds this bridge's beacons.
 *
 * <p>Safety depends on the order of calls. After a {@link #step} that returns true, the caller
 * first makes the data path follow {@link #roleOf}, and only then requests the next {@link
 * #beacon}.
 */
public final class PeerProtocol {
  private static final long NS_PER_MS = 1_000_000;

  private final long incarnation;
  private final long startNs;
  private final PeerTable table;
  private final Pins pins = new Pins();
  private final Ownership ownership;
  private PeerSettings settings;
  private List<Beacon> alive = List.of();
  private Map<Gid, Integer> fixed = Map.of();
  private long configDigest;
  private int fabricsUp;
  private boolean draining;
  private boolean reserve;
  private boolean starting = true;
  private long sequence;
  private long steppedNs;

  /**
   * @param incarnation incarnation of this bridge, larger than at any earlier start
   * @param nowNs start of the listening period
   */
  public PeerProtocol(PeerSettings settings, long incarnation, long nowNs) {
    this.settings = settings;
    this.incarnation = incarnation;
    startNs = nowNs;
    steppedNs = nowNs;
    reserve = settings.reserve();
    table = new PeerTable(settings.id(), incarnation);
    ownership = new Ownership(settings.id(), incarnation, new View(List.of(), Map.of(), Map.of()));
  }

  /**
   * Sets the configuration, which takes effect at the next step.
   *
   * @param next settings with the same bridge number and beacon interval
   * @param owners number of the bridge that is configured to own each group; groups without a
   *     configured owner are absent
   * @param digest digest of the settings that must be equal on all bridges
   */
  public void configure(PeerSettings next, Map<Gid, Integer> owners, long digest) {
    if (next.reserve() != settings.reserve()) {
      reserve = next.reserve();
    }
    settings = next;
    fixed = Map.copyOf(owners);
    configDigest = digest;
  }

  /** Sets the fabrics whose link is up: bit 0 for a, bit 1 for b. */
  public void setFabricsUp(int fabrics) {
    fabricsUp = fabrics;
  }

  /** Starts or ends draining: a draining bridge gives up all its groups. */
  public void setDraining(boolean on) {
    draining = on;
  }

  /** Starts or ends reserve: a reserve bridge owns nothing while another bridge can. */
  public void setReserve(boolean on) {
    reserve = on;
  }

  /**
   * Assigns a group to a bridge, by an operator's order.
   *
   * @param owner {@link View#NOBODY} withdraws the earlier order
   * @return false if the table of orders is full
   */
  public boolean pin(Gid group, int owner) {
    return pins.order(group, owner);
  }

  /**
   * Receives a beacon.
   *
   * @param side fabric that the beacon came from, 0 for a
   * @return reason for the beacon's rejection; null if it is accepted
   */
  public @Nullable BeaconFault receive(Beacon beacon, int side, long nowNs) {
    BeaconFault fault = table.receive(beacon, side, nowNs);
    if (fault == null) {
      pins.merge(beacon.pins());
    }
    return fault;
  }

  /**
   * Recomputes ownership.
   *
   * @param groups groups that this bridge is configured for
   * @return whether a role or the content of this bridge's beacons may have changed
   */
  public boolean step(long nowNs, Collection<Gid> groups) {
    boolean changed = false;
    if (nowNs - steppedNs > fenceNs() && !table.all().isEmpty()) {
      ownership.fence();
      changed = true;
    }
    steppedNs = nowNs;
    if (starting && nowNs - startNs > BridgePeer.holdNs(settings.intervalMs())) {
      starting = false;
    }
    List<Beacon> before = alive;
    alive = table.alive(nowNs).stream().map(BridgePeer::newest).toList();
    changed |= ownership.adopt(nextView());
    changed |= ownership.settle(alive, groups);
    return changed || !haveEqualContent(before, alive);
  }

  /*
   * Returns the maximum pause between two steps. After a longer one, the other bridges may already
   * have declared this one gone.
   */
  private long fenceNs() {
    return settings.intervalMs() * NS_PER_MS * 5 / 2;
  }

  /* Compares the content of beacons, without the sequence numbers and the operators' orders. */
  private static boolean haveEqualContent(List<Beacon> before, List<Beacon> now) {
    boolean same = before.size() == now.size();
    for (int i = 0; same && i < now.size(); i++) {
      Beacon one = before.get(i);
      Beacon other = now.get(i);
      same =
          one.origin().id() == other.origin().id()
              && one.origin().incarnation() == other.origin().incarnation()
              && one.standing().equals(other.standing())
              && one.agreement().equals(other.agreement())
              && one.addresses().equals(other.addresses());
    }
    return same;
  }

  /*
   * Returns the next view: the current object while the inputs are unchanged, since the digest of a
   * new view is expensive.
   */
  private View nextView() {
    View now = ownership.view();
    List<View.Member> members = members();
    Map<Gid, Integer> pinned = pins.owners();
    return now.matches(members, fixed, pinned) ? now : new View(members, fixed, pinned);
  }

  private List<View.Member> members() {
    List<View.Member> members = new ArrayList<>();
    for (Beacon each : alive) {
      Beacon.Standing standing = each.standing();
      if (standing.isEligible()) {
        members.add(
            new View.Member(
                each.origin().id(),
                each.origin().incarnation(),
                standing.priority(),
                standing.weight(),
                standing.reserve()));
      }
    }
    if (standing(false).isEligible()) {
      members.add(
          new View.Member(
              settings.id(), incarnation, settings.priority(), settings.weight(), reserve));
    }
    return members;
  }

  private Beacon.Standing standing(boolean leaving) {
    return new Beacon.Standing(
        state(), settings.priority(), settings.weight(), fabricsUp, reserve, leaving);
  }

  /** Returns the state of this bridge. */
  public BridgeState state() {
    if (draining) {
      return BridgeState.DRAINING;
    }
    if (starting) {
      return BridgeState.STARTING;
    }
    return ownership.size() > 0 ? BridgeState.ACTIVE : BridgeState.STANDBY;
  }

  /**
   * Builds the next beacon. Called once for each fabric.
   *
   * @param side fabric that the beacon is sent into, 0 for a
   * @param addresses addresses of this bridge, in both fabrics
   * @param leaving whether this is the last beacon
   */
  public Beacon beacon(int side, List<Gid> addresses, boolean leaving, long nowNs) {
    sequence++;
    steppedNs = nowNs;
    return new Beacon(
        new Beacon.Origin(
            settings.id(), incarnation, sequence, side, settings.intervalMs(), configDigest),
        standing(leaving),
        ownership.agreement(table.heard(nowNs)),
        addresses,
        pins.all());
  }

  /** Returns this bridge's role for a group. */
  public Role roleOf(Gid group) {
    return ownership.roleOf(group, alive);
  }

  /**
   * Returns the bridge that the view assigns a group to; {@link View#NOBODY} if none can own it.
   */
  public int ownerOf(Gid group) {
    return ownership.view().ownerOf(group);
  }

  /**
   * Returns the bridge that would own a group without this one; {@link View#NOBODY} if none could.
   */
  public int ownerWithoutThis(Gid group) {
    return ownership.view().ownerWithout(group, settings.id());
  }

  /** Returns whether another bridge can own groups. */
  public boolean hasEligiblePeer() {
    return alive.stream().anyMatch(each -> each.standing().isEligible());
  }

  /**
   * Returns whether all live bridges share this bridge's view, and each other live bridge owns the
   * groups that the view assigns to it.
   */
  public boolean isSettled() {
    return ownership.isAgreed(alive) && alive.stream().allMatch(each -> each.agreement().settled());
  }

  /** Returns whether the peer's newest beacon announces the same view as this bridge's. */
  public boolean agrees(BridgePeer peer) {
    return peer.newest().agreement().view() == ownership.view().digest();
  }

  public int id() {
    return settings.id();
  }

  /** Returns whether this bridge can own groups. */
  public boolean isMember() {
    return standing(false).isEligible();
  }

  /** Returns whether the last step has applied all orders and configuration. */
  public boolean isDecided() {
    return nextView() == ownership.view();
  }

  /** Returns the addresses of all bridges ever received. */
  public List<Gid> knownAddresses() {
    return table.all().stream().flatMap(each -> each.newest().addresses().stream()).toList();
  }

  /** Returns the last value of {@link #setFabricsUp(int)}. */
  public int linksUp() {
    return fabricsUp;
  }

  public boolean isReserve() {
    return reserve;
  }

  /** Returns the number of groups that this bridge owns. */
  public int owned() {
    return ownership.size();
  }

  public PeerTable table() {
    return table;
  }

  /** Returns whether another bridge has the same configuration as this one. */
  public boolean isConfiguredAlike(BridgePeer peer) {
    return peer.newest().origin().configDigest() == configDigest;
  }

  /**
   * Returns the time of the next {@link #step} if no beacon arrives; {@link Long#MAX_VALUE} for
   * none.
   */
  public long nextDeadlineNs(long nowNs) {
    long start = startNs + BridgePeer.holdNs(settings.intervalMs()) + 1;
    long silence = table.nextSilenceNs(nowNs);
    if (!starting) {
      return silence == Long.MAX_VALUE ? silence : silence + 1;
    }
    return silence == Long.MAX_VALUE || start - silence < 0 ? start : silence + 1;
  }
}
