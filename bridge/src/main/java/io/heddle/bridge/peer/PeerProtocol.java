package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One bridge's part among several: it hears beacons, decides, and says what its own beacons say.
 *
 * <p>The order of calls is what makes it safe. After a {@link #step} that returns true the caller
 * has the data path do what {@link #roleOf} says, and only then asks for the next {@link #beacon}.
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
   * @param incarnation larger than that of any start before
   * @param nowNs when it begins to listen
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
   * What is configured, from the next step on.
   *
   * @param next with the same number and interval
   * @param owners by group, as far as they are configured
   * @param digest of what all bridges should be configured alike
   */
  public void configure(PeerSettings next, Map<Gid, Integer> owners, long digest) {
    if (next.reserve() != settings.reserve()) {
      reserve = next.reserve();
    }
    settings = next;
    fixed = Map.copyOf(owners);
    configDigest = digest;
  }

  /** Which fabrics carry anything: bit 0 for a, bit 1 for b. */
  public void fabricsUp(int fabrics) {
    fabricsUp = fabrics;
  }

  /** Whether it gives up everything. */
  public void drain(boolean on) {
    draining = on;
  }

  /** Whether it takes nothing while another bridge can. */
  public void reserve(boolean on) {
    reserve = on;
  }

  /**
   * A bridge is to own a group from now on, by an operator's order.
   *
   * @param owner {@link View#NOBODY} takes the order before back
   * @return false where there are as many orders as fit
   */
  public boolean pin(Gid group, int owner) {
    return pins.order(group, owner);
  }

  /**
   * Takes a beacon.
   *
   * @param side the fabric that it came from
   * @return why it isn't taken; null where it is
   */
  public @Nullable BeaconFault hear(Beacon beacon, int side, long nowNs) {
    BeaconFault fault = table.hear(beacon, side, nowNs);
    if (fault == null) {
      pins.merge(beacon.pins());
    }
    return fault;
  }

  /**
   * Decides anew.
   *
   * @param groups that this bridge is configured for
   * @return whether a role may be another than before, or its beacons say something else
   */
  public boolean step(long nowNs, Collection<Gid> groups) {
    boolean changed = false;
    if (nowNs - steppedNs > fenceNs() && !table.all().isEmpty()) {
      ownership.fence();
      changed = true;
    }
    steppedNs = nowNs;
    if (starting && nowNs - startNs > HeardBridge.holdNs(settings.intervalMs())) {
      starting = false;
    }
    List<Beacon> before = alive;
    alive = table.alive(nowNs).stream().map(HeardBridge::newest).toList();
    changed |= ownership.adopt(nextView());
    changed |= ownership.settle(alive, groups);
    return changed || !tellTheSame(before, alive);
  }

  /* After such a pause others may count this bridge as gone within the next moment, or already do. */
  private long fenceNs() {
    return settings.intervalMs() * NS_PER_MS * 5 / 2;
  }

  /* Of all but the numbers of the beacons. */
  private static boolean tellTheSame(List<Beacon> before, List<Beacon> now) {
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

  /* The one in force where nothing of it has changed: its digest costs. */
  private View nextView() {
    View now = ownership.view();
    List<View.Member> members = members();
    Map<Gid, Integer> pinned = pins.owners();
    return now.isOf(members, fixed, pinned) ? now : new View(members, fixed, pinned);
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

  /** How far this bridge takes part. */
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
   * The next beacon. One is asked for a fabric, and the same again for the other.
   *
   * @param side the fabric that it is sent into
   * @param addresses of this bridge
   * @param leaving whether it is the last one
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

  /** What the bridge does with a group. */
  public Role roleOf(Gid group) {
    return ownership.roleOf(group, alive);
  }

  /** The bridge that is to own a group; {@link View#NOBODY} where none can. */
  public int ownerOf(Gid group) {
    return ownership.view().ownerOf(group);
  }

  /** The bridge that would own a group without this one; {@link View#NOBODY} where none could. */
  public int ownerWithoutThis(Gid group) {
    return ownership.view().ownerWithout(group, settings.id());
  }

  /** Whether another bridge can own groups. */
  public boolean hasEligiblePeer() {
    return alive.stream().anyMatch(each -> each.standing().isEligible());
  }

  /** Whether all bridges that are there decide alike, and each owns what it should. */
  public boolean isSettled() {
    return ownership.isAgreed(alive) && alive.stream().allMatch(each -> each.agreement().settled());
  }

  /** Whether that bridge decides under this one's view. */
  public boolean agrees(HeardBridge peer) {
    return peer.newest().agreement().view() == ownership.view().digest();
  }

  public int id() {
    return settings.id();
  }

  /** Whether this bridge can own groups. */
  public boolean isMember() {
    return standing(false).isEligible();
  }

  /** Whether the last step has taken in all that was ordered and configured since. */
  public boolean isDecided() {
    return nextView() == ownership.view();
  }

  /** Addresses of all bridges that were heard ever. */
  public List<Gid> knownAddresses() {
    return table.all().stream().flatMap(each -> each.newest().addresses().stream()).toList();
  }

  /** As {@link #fabricsUp(int)} was told. */
  public int linksUp() {
    return fabricsUp;
  }

  public boolean isReserve() {
    return reserve;
  }

  /** How many groups it owns. */
  public int owned() {
    return ownership.size();
  }

  public PeerTable table() {
    return table;
  }

  /** Whether that bridge is configured as this one. */
  public boolean isConfiguredAlike(HeardBridge peer) {
    return peer.newest().origin().configDigest() == configDigest;
  }

  /** When it has to decide anew even if nothing is heard; {@link Long#MAX_VALUE} for never. */
  public long nextDeadlineNs(long nowNs) {
    long start = startNs + HeardBridge.holdNs(settings.intervalMs()) + 1;
    long silence = table.nextSilenceNs(nowNs);
    if (!starting) {
      return silence == Long.MAX_VALUE ? silence : silence + 1;
    }
    return silence == Long.MAX_VALUE || start - silence < 0 ? start : silence + 1;
  }
}
