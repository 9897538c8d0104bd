package io.heddle.bridge.redundancy;

import io.heddle.bridge.peer.Beacon;
import io.heddle.bridge.peer.BeaconCodec;
import io.heddle.bridge.peer.BeaconFault;
import io.heddle.bridge.peer.DecodedBeacon;
import io.heddle.bridge.peer.PeerChange;
import io.heddle.bridge.peer.PeerProtocol;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.status.PeerStatusWriter;
import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.ResilientThread;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Redundancy of this bridge: a thread that sends and receives beacons, runs {@link PeerProtocol},
 * and makes the data path follow its decisions. It is separate from the control thread, so that a
 * reload of thousands of groups delays no beacon.
 */
public final class Peering implements AutoCloseable {
  private static final long NS_PER_MS = 1_000_000;
  private static final int SIDES = 2;
  private static final int BUFFER_BYTES = 2048;
  private static final int POLLFD_BYTES = 8;
  private static final short POLLIN = 1;
  private static final int MAX_BEACONS_PER_ROUND = 256;

  private final Arena arena = Arena.ofShared();
  private final List<BeaconSocket> sockets;
  private final List<Gid> addresses;
  private final OwnershipTarget target;
  private final PeerStatusWriter status;
  private final Log log;
  private final Consumer<String> report;
  private final PeerProtocol protocol;
  private final ResilientThread thread;
  private final long pollfds;
  private final long timespec;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private final Map<BeaconFault, Long> faults = new EnumMap<>(BeaconFault.class);
  private final HangDetector data;
  private final Runnable whenLost;
  private final int[] sendErrors = new int[SIDES];
  private PeerSettings settings;
  private long nextBeaconNs;
  private int fabricsUp = -1;
  private volatile boolean closing;

  /** Bridge whose data path follows the protocol's decisions. */
  public interface OwnershipTarget {
    /**
     * Runs an action while no reload runs.
     *
     * @return false if a reload is in progress, and the action didn't run
     */
    boolean runExclusively(Runnable action);

    /**
     * Returns the bridge's groups; the same list object while they are unchanged. Called only
     * within {@link #runExclusively}.
     */
    List<Gid> groups();

    /**
     * Makes the data path follow the protocol's decision, and waits until it does. Called only
     * within {@link #runExclusively}.
     */
    void follow(PeerProtocol protocol);
  }

  /**
   * @param sockets beacon sockets of fabric a and b, which {@link #close} closes
   * @param addresses addresses of this bridge, in both fabrics
   * @param data detector of a hung data thread
   * @param report receives messages for the operator
   * @param whenLost runs when the thread's rounds keep failing
   */
  public Peering(
      PeerSettings settings,
      List<BeaconSocket> sockets,
      List<Gid> addresses,
      OwnershipTarget target,
      PeerStatusWriter status,
      HangDetector data,
      Log log,
      Consumer<String> report,
      Runnable whenLost) {
    this.settings = settings;
    this.sockets = List.copyOf(sockets);
    this.addresses = addresses.stream().limit(Beacon.MOST_ADDRESSES).toList();
    this.target = target;
    this.status = status;
    this.data = data;
    this.whenLost = whenLost;
    this.log = log;
    this.report = report;
    long now = System.nanoTime();
    nextBeaconNs = now;
    protocol = new PeerProtocol(settings, System.currentTimeMillis(), now);
    pollfds = Memory.allocate(arena, (long) SIDES * POLLFD_BYTES, 8);
    timespec = Memory.allocate(arena, 16, 8);
    for (int side = 0; side < SIDES; side++) {
      long at = pollfds + (long) side * POLLFD_BYTES;
      Memory.setInt(at, sockets.get(side).descriptor());
      Memory.ALL.set(Memory.NATIVE_SHORT, at + 4, POLLIN);
    }
    thread =
        new ResilientThread("heddle-bridge-peers", log, this::round).onPersistentFailure(whenLost);
  }

  public void start() {
    thread.start();
  }

  /** Configures the protocol, as {@link PeerProtocol#configure} does. */
  public synchronized void configure(PeerSettings next, Map<Gid, Integer> owners, long digest) {
    settings = next;
    protocol.configure(next, owners, digest);
  }

  /**
   * Runs an order or a query on the protocol. The next round announces the order's effect to the
   * other bridges, within 20 ms.
   *
   * @return the order's result
   */
  public synchronized <T> T order(Function<PeerProtocol, T> order) {
    T result = order.apply(protocol);
    nextBeaconNs = System.nanoTime();
    return result;
  }

  /**
   * Waits until a condition holds, which is evaluated after each round.
   *
   * @return false if the time limit passes first, or the bridge closes
   */
  public synchronized boolean await(Predicate<PeerProtocol> condition, long limitNs)
      throws InterruptedException {
    long start = System.nanoTime();
    while (!condition.test(protocol)) {
      long restMs = (limitNs - (System.nanoTime() - start)) / NS_PER_MS;
      if (closing || restMs <= 0) {
        return false;
      }
      wait(restMs);
    }
    return true;
  }

  private boolean round() {
    synchronized (this) {
      if (closing) {
        return false;
      }
      long now = System.nanoTime();
      if (data.isHung(now)) {
        /* The bridge's end stops its beacons, so the other bridges take over. */
        log.warn("the data thread hangs, so this bridge ends");
        whenLost.run();
        return false;
      }
      receive(now);
      boolean due = now - nextBeaconNs >= 0;
      if (due) {
        checkLinks();
      }
      boolean changed = decide(now);
      if (due || changed) {
        /*
         * The next interval starts now, not at the due time, so that a delayed thread sends no
         * burst of beacons.
         */
        nextBeaconNs = now + settings.intervalMs() * NS_PER_MS;
        sendBeacons(false);
      }
      if (due || changed) {
        reportChanges(now);
        status.write(protocol, faults, now);
      }
      notifyAll();
    }
    sleep();
    return true;
  }

  private void receive(long nowNs) {
    for (int side = 0; side < SIDES; side++) {
      int length = sockets.get(side).receive(buffer);
      for (int i = 0; length >= 0 && i < MAX_BEACONS_PER_ROUND; i++) {
        BeaconFault fault =
            switch (BeaconCodec.decode(buffer, length, settings.key())) {
              case DecodedBeacon.Valid valid -> protocol.receive(valid.beacon(), side, nowNs);
              case DecodedBeacon.Rejected rejected -> rejected.fault();
            };
        if (fault != null) {
          count(fault, side);
        }
        length = sockets.get(side).receive(buffer);
      }
    }
  }

  /* Counts a rejected beacon. Only the first of each kind is logged. */
  private void count(BeaconFault fault, int side) {
    if (faults.merge(fault, 1L, Long::sum) == 1) {
      log.warn(
          "a beacon on fabric %s was rejected: %s; heddle bridge show counts them",
          side == 0 ? "a" : "b", fault.word());
    }
  }

  private void checkLinks() {
    int up = 0;
    for (int side = 0; side < SIDES; side++) {
      up |= sockets.get(side).isUp() ? 1 << side : 0;
    }
    if (up != fabricsUp) {
      boolean first = fabricsUp < 0;
      fabricsUp = up;
      protocol.setFabricsUp(up);
      if (!first || up != 3) {
        report.accept(
            up == 3
                ? "both fabrics' links are up again"
                : "this bridge can own no group: the link is down of fabric "
                    + (up == 1 ? "b" : up == 2 ? "a" : "a and of fabric b"));
      }
    }
  }

  private boolean decide(long nowNs) {
    boolean[] changed = new boolean[1];
    target.runExclusively(() -> {
      changed[0] = protocol.step(nowNs, target.groups());
      if (changed[0]) {
        target.follow(protocol);
      }
    });
    return changed[0];
  }

  private void sendBeacons(boolean leaving) {
    for (int side = 0; side < SIDES; side++) {
      Beacon beacon = protocol.beacon(side, addresses, leaving, System.nanoTime());
      int error = sockets.get(side).send(BeaconCodec.encode(beacon, settings.key()));
      if (error != sendErrors[side]) {
        sendErrors[side] = error;
        if (error != 0) {
          log.warn(
              "no beacon can be sent on fabric %s: %s",
              side == 0 ? "a" : "b", Errno.describe(error));
        }
      }
    }
  }

  private void reportChanges(long nowNs) {
    for (PeerChange each : protocol.table().takeChanges(nowNs)) {
      if (each.isWarning()) {
        log.warn("%s", each.describe());
        report.accept(each.describe());
      } else {
        log.info("%s", each.describe());
      }
    }
  }

  private void sleep() {
    long now = System.nanoTime();
    long until;
    synchronized (this) {
      until = nextBeaconNs;
      long deadline = protocol.nextDeadlineNs(now);
      if (deadline != Long.MAX_VALUE && deadline - until < 0) {
        until = deadline;
      }
    }
    /* At most 20 ms, so that the effect of an order is announced within that time. */
    long waitNs = Math.clamp(until - now, 0, 20 * NS_PER_MS);
    Memory.setLong(timespec, 0);
    Memory.setLong(timespec + 8, waitNs);
    DatagramCalls.poll(LinuxCalls.errnoCapture(), pollfds, SIDES, timespec);
  }

  /**
   * Ends the thread. The data path must have stopped forwarding: the last beacon announces the
   * departure, and the other bridges take over at once.
   */
  @Override
  public void close() {
    closing = true;
    thread.joinUninterruptibly();
    synchronized (this) {
      notifyAll();
    }
    protocol.setDraining(true);
    sendBeacons(true);
    release();
  }

  /** Releases the sockets and the memory. The thread must have ended, or never have started. */
  public void release() {
    sockets.forEach(BeaconSocket::close);
    arena.close();
  }
}
