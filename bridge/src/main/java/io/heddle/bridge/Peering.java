package io.heddle.bridge;

import io.heddle.bridge.fabric.BeaconSocket;
import io.heddle.bridge.peer.Beacon;
import io.heddle.bridge.peer.BeaconCodec;
import io.heddle.bridge.peer.BeaconFault;
import io.heddle.bridge.peer.BeaconReading;
import io.heddle.bridge.peer.PeerChange;
import io.heddle.bridge.peer.PeerProtocol;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.status.PeerStatusWriter;
import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.LastingThread;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * This bridge among others: a thread that sends and hears beacons, has {@link PeerProtocol} decide,
 * and the data path follow. It has a thread of its own, so that a reload of thousands of groups
 * delays no beacon.
 */
final class Peering implements AutoCloseable {
  private static final long NS_PER_MS = 1_000_000;
  private static final int SIDES = 2;
  private static final int ROOM_BYTES = 2048;
  private static final int POLLFD_BYTES = 8;
  private static final short POLLIN = 1;
  private static final int MOST_HEARD_AT_ONCE = 256;

  private final Arena arena = Arena.ofShared();
  private final List<BeaconSocket> sockets;
  private final List<Gid> addresses;
  private final Followers followers;
  private final PeerStatusWriter status;
  private final Log log;
  private final Consumer<String> tell;
  private final PeerProtocol protocol;
  private final LastingThread thread;
  private final long pollfds;
  private final long timespec;
  private final byte[] room = new byte[ROOM_BYTES];
  private final Map<BeaconFault, Long> faults = new EnumMap<>(BeaconFault.class);
  private final DataWatch data;
  private final Runnable whenLost;
  private final int[] sendErrors = new int[SIDES];
  private PeerSettings settings;
  private long nextBeaconNs;
  private int fabricsUp = -1;
  private volatile boolean closing;

  /** The bridge, as far as it follows what is decided. */
  interface Followers {
    /**
     * Runs something while no reload does.
     *
     * @return false where a reload is in progress, and it isn't run
     */
    boolean alone(Runnable what);

    /** The bridge's groups; the same object while they are the same. Only within {@link #alone}. */
    List<Gid> groups();

    /**
     * Has the data path do as it is decided, and waits until it does. Only within {@link #alone}.
     */
    void follow(PeerProtocol protocol);
  }

  /**
   * @param sockets of fabric a and b, which this closes
   * @param addresses of this bridge
   * @param data notices where nothing is forwarded any more
   * @param tell takes what an operator should hear of
   * @param whenLost happens where the thread does nothing any more but fail
   */
  Peering(
      PeerSettings settings,
      List<BeaconSocket> sockets,
      List<Gid> addresses,
      Followers followers,
      PeerStatusWriter status,
      DataWatch data,
      Log log,
      Consumer<String> tell,
      Runnable whenLost) {
    this.settings = settings;
    this.sockets = List.copyOf(sockets);
    this.addresses = addresses.stream().limit(Beacon.MOST_ADDRESSES).toList();
    this.followers = followers;
    this.status = status;
    this.data = data;
    this.whenLost = whenLost;
    this.log = log;
    this.tell = tell;
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
    thread = new LastingThread("heddle-bridge-peers", log, this::round).orElse(whenLost);
  }

  void start() {
    thread.start();
  }

  /** As {@link PeerProtocol#configure}. */
  synchronized void configure(PeerSettings next, Map<Gid, Integer> owners, long digest) {
    settings = next;
    protocol.configure(next, owners, digest);
  }

  /**
   * Gives an order, or asks; what it changes is told to the others within a moment.
   *
   * @return whatever the order returns
   */
  synchronized <T> T order(Function<PeerProtocol, T> what) {
    T answer = what.apply(protocol);
    nextBeaconNs = System.nanoTime();
    return answer;
  }

  /** Whether something holds; it is asked after each round until then, or the time is over. */
  synchronized boolean await(Predicate<PeerProtocol> what, long limitNs)
      throws InterruptedException {
    long start = System.nanoTime();
    while (!what.test(protocol)) {
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
      if (data.hangs(now)) {
        /* Without beacons the others take over. */
        log.warn("the data thread hangs, so this bridge ends");
        whenLost.run();
        return false;
      }
      hear(now);
      boolean due = now - nextBeaconNs >= 0;
      if (due) {
        lookAtLinks();
      }
      boolean changed = decide(now);
      if (due || changed) {
        /* Later where the thread comes late, so that beacons don't bunch. */
        nextBeaconNs = now + settings.intervalMs() * NS_PER_MS;
        sendBeacons(false);
      }
      if (due || changed) {
        tellChanges(now);
        status.write(protocol, faults, now);
      }
      notifyAll();
    }
    sleep();
    return true;
  }

  private void hear(long nowNs) {
    for (int side = 0; side < SIDES; side++) {
      int length = sockets.get(side).receive(room);
      for (int i = 0; length >= 0 && i < MOST_HEARD_AT_ONCE; i++) {
        BeaconFault fault =
            switch (BeaconCodec.decode(room, length, settings.key())) {
              case BeaconReading.Right right -> protocol.hear(right.beacon(), side, nowNs);
              case BeaconReading.Wrong wrong -> wrong.fault();
            };
        if (fault != null) {
          count(fault, side);
        }
        length = sockets.get(side).receive(room);
      }
    }
  }

  /* The first of each kind is told. */
  private void count(BeaconFault fault, int side) {
    if (faults.merge(fault, 1L, Long::sum) == 1) {
      log.warn(
          "a beacon on fabric %s isn't taken: %s; heddle bridge show counts them",
          side == 0 ? "a" : "b", fault.word());
    }
  }

  private void lookAtLinks() {
    int up = 0;
    for (int side = 0; side < SIDES; side++) {
      up |= sockets.get(side).isUp() ? 1 << side : 0;
    }
    if (up != fabricsUp) {
      boolean first = fabricsUp < 0;
      fabricsUp = up;
      protocol.fabricsUp(up);
      if (!first || up != 3) {
        tell.accept(
            up == 3
                ? "both fabrics' links are up again"
                : "this bridge can own no group: the link is down of fabric "
                    + (up == 1 ? "b" : up == 2 ? "a" : "a and of fabric b"));
      }
    }
  }

  private boolean decide(long nowNs) {
    boolean[] changed = new boolean[1];
    followers.alone(() -> {
      changed[0] = protocol.step(nowNs, followers.groups());
      if (changed[0]) {
        followers.follow(protocol);
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

  private void tellChanges(long nowNs) {
    for (PeerChange each : protocol.table().look(nowNs)) {
      if (each.isWarning()) {
        log.warn("%s", each.describe());
        tell.accept(each.describe());
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
    /* An order waits as long as this. */
    long waitNs = Math.clamp(until - now, 0, 20 * NS_PER_MS);
    Memory.setLong(timespec, 0);
    Memory.setLong(timespec + 8, waitNs);
    DatagramCalls.poll(LinuxCalls.errnoCapture(), pollfds, SIDES, timespec);
  }

  /** Ends the thread. Nothing is forwarded any more: the others are told, and take over at once. */
  @Override
  public void close() {
    closing = true;
    thread.joinWhateverInterrupts();
    synchronized (this) {
      notifyAll();
    }
    protocol.drain(true);
    sendBeacons(true);
    release();
  }

  /** Gives back what it has, where its thread never ran. */
  void release() {
    sockets.forEach(BeaconSocket::close);
    arena.close();
  }
}
