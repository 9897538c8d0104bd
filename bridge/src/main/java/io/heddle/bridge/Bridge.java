package io.heddle.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.ConfigDigest;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.FlowDirection;
import io.heddle.bridge.multicast.StormGuard;
import io.heddle.bridge.peer.PeerProtocol;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.redundancy.BeaconSocket;
import io.heddle.bridge.redundancy.BridgeOrders;
import io.heddle.bridge.redundancy.ForwardingGate;
import io.heddle.bridge.redundancy.HangDetector;
import io.heddle.bridge.redundancy.Peering;
import io.heddle.bridge.status.StatusFile;
import io.heddle.bridge.unicast.HostForwarder;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.ResilientThread;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Gateway between two RDMA fabrics. It opens a port in each fabric, joins the multicast groups, and
 * runs the data thread. A control thread handles rare events.
 */
public final class Bridge implements AutoCloseable, Peering.OwnershipTarget {
  private static final long ROUND_NS = 100_000_000;
  private static final int ROUNDS_PER_SECOND = 10;
  private static final int NO_SLOT = -1;
  /*
   * Consecutive checks without progress after which the control thread considers the data thread
   * hung. It makes 30 checks in three seconds; the data thread sleeps at most 20 ms.
   */
  private static final int MISSED_BEATS = 30;
  /*
   * Consecutive checks without progress after which the peer thread considers the data thread hung.
   * It makes 50 checks in one second.
   */
  private static final int MISSED_BEATS_OF_PEERS = 50;

  private final Log log;
  private final StatusFile status;
  private final SystemClock clock = new SystemClock();
  private final Arena arena = Arena.ofShared();
  private final List<FabricPort> fabrics = new ArrayList<>();
  private final BridgedGroups groups;
  private final DataThread data;
  private final ResilientThread control;
  private final HangDetector hangDetector;
  private final FabricMonitor fabricMonitor;
  private final Runnable whenLost;
  private final int unicastSlot;
  private @Nullable HostForwarder hosts;
  private final ForwardingGates gates;
  private final @Nullable Peering peering;
  /* Guards the configuration, the groups and their forwarding gates. */
  private final ReentrantLock lock = new ReentrantLock();
  private BridgeConfig config;
  private List<Gid> addresses = List.of();
  private List<Gid> otherBridges = List.of();
  private int rounds;
  private final AtomicBoolean closing = new AtomicBoolean();

  private Bridge(BridgeConfig config, String configFile, Log log, Runnable whenLost) {
    this.config = config;
    this.log = log;
    this.whenLost = whenLost;
    DataThread.requireProcessor(config.core());
    gates =
        new ForwardingGates(
            config.redundancy() == null ? ForwardingGate.ALWAYS : ForwardingGate.NOT_YET);
    status = StatusFile.create(config.status(), config.name(), configFile);
    groups = new BridgedGroups(arena, fabrics, status, lock, log);
    try {
      for (int side = 0; side < 2; side++) {
        FabricPort fabric =
            FabricPorts.open(
                config.fabrics().get(side),
                config.isTransparent(),
                clock,
                log,
                status.fabricCounters(side));
        fabrics.add(fabric);
        status.describeFabric(side, fabric.name(), fabric.describe());
      }
      FabricPorts.requireUnicast(config, fabrics);
      StormGuard[] guards = {new StormGuard(arena), new StormGuard(arena)};
      PacketPort a = fabrics.getFirst().packets();
      PacketPort b = fabrics.getLast().packets();
      FabricOutlet exit = new FabricOutlet(new PacketPort[] {a, b}, guards);
      int packetBytes = Math.max(a.mostBytes(true), b.mostBytes(true));
      long now = System.nanoTime();
      Limiter limiter = new Limiter(arena, Limiter.POOL_BYTES, packetBytes, exit, now);
      unicastSlot =
          config.unicast() == null ? NO_SLOT : status.openUnicast(config.unicast().describe());
      hosts = config.unicast() == null ? null : hosts(config.unicast(), limiter);
      Forwarder[] forwarders = {
        new Forwarder(0, a, b, status.fabricCounters(0), guards[0], limiter, hosts),
        new Forwarder(1, b, a, status.fabricCounters(1), guards[1], limiter, hosts)
      };
      groups.open(config.groups());
      addresses = List.copyOf(groups.all().keySet());
      int[] descriptors = {a.descriptor(), b.descriptor()};
      for (int side = 0; side < 2; side++) {
        limiter.setLink(side, config.links().get(side), now);
      }
      data =
          new DataThread(
              arena,
              forwarders,
              limiter,
              exit,
              descriptors,
              tables(config, groups.all(), List.of()),
              config.core(),
              log,
              whenLost);
      hangDetector = new HangDetector(data::beats, MISSED_BEATS, ROUND_NS);
      HostForwarder unicast = hosts;
      fabricMonitor =
          new FabricMonitor(
              fabrics, unicast == null ? () -> "" : unicast::check, log, status::report);
      control =
          new ResilientThread("heddle-bridge-control", log, this::runRound)
              .onPersistentFailure(whenLost);
      peering = config.redundancy() == null ? null : peering(config.redundancy(), data);
    } catch (RuntimeException failed) {
      release();
      throw failed;
    }
  }

  /**
   * Starts a bridge in the calling thread's network namespace.
   *
   * @param file path of the configuration file, which the status shows; empty for none
   * @param whenLost runs when the bridge is out of service: one of its threads fails in every
   *     round, or its data thread hangs. Runs on a thread of the bridge
   * @throws HeddleException if a fabric can't be opened, with the reason
   */
  public static Bridge start(BridgeConfig config, Path file, Log log, Runnable whenLost) {
    Bridge bridge = new Bridge(config, file.toString(), log, whenLost);
    bridge.data.start();
    bridge.control.start();
    if (bridge.peering != null) {
      bridge.peering.start();
    }
    return bridge;
  }

  private Peering peering(PeerSettings settings, DataThread data) {
    List<BeaconSocket> sockets = new ArrayList<>();
    List<Gid> own = new ArrayList<>();
    try {
      for (int side = 0; side < 2; side++) {
        sockets.add(FabricPorts.beacons(fabrics.get(side), settings));
        own.addAll(fabrics.get(side).ownAddresses());
      }
    } catch (RuntimeException failed) {
      sockets.forEach(BeaconSocket::close);
      throw failed;
    }
    Peering made =
        new Peering(
            settings,
            sockets,
            own,
            this,
            status.peers(settings.id()),
            new HangDetector(data::beats, MISSED_BEATS_OF_PEERS, DataThread.SLEEP_NS),
            log,
            status::report,
            whenLost);
    made.configure(settings, config.owners(), ConfigDigest.of(config));
    return made;
  }

  @Override
  public boolean runExclusively(Runnable what) {
    if (!lock.tryLock()) {
      return false;
    }
    try {
      what.run();
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<Gid> groups() {
    return addresses;
  }

  @Override
  public void follow(PeerProtocol protocol) {
    List<Gid> others = protocol.knownAddresses();
    boolean changed = gates.follow(protocol, addresses, System.nanoTime());
    if (changed || !others.equals(otherBridges)) {
      otherBridges = others;
      data.setTables(tables(config, groups.all(), List.of()));
      data.awaitTablesInUse();
    }
    groups
        .all()
        .forEach((address, group) ->
            status.setOwner(group.slot(), protocol.ownerOf(address), gates.of(address).role()));
  }

  /** Returns the handler of operators' orders; null for a bridge without redundancy. */
  public @Nullable BridgeOrders orders() {
    return peering == null ? null : new BridgeOrders(peering, this::addressOf);
  }

  /** Returns this bridge's health, for its supervisor. */
  public BridgeHealth health() {
    return new BridgeHealth(data::beats, fabricMonitor::trouble);
  }

  /** Returns the handler of fault injection orders. */
  public BridgeFaults faults() {
    return groups.faults();
  }

  private Gid addressOf(String name) {
    lock.lock();
    try {
      return BridgedGroups.addressOf(groups.all().values(), name);
    } finally {
      lock.unlock();
    }
  }

  private BridgeTables tables(
      BridgeConfig by, Map<Gid, BridgedGroup> forwarded, List<BridgedGroup> retired) {
    return BridgeTables.of(
        by, fabrics, gates.gatedGroups(forwarded), otherBridges, groups.pgm(), retired);
  }

  private HostForwarder hosts(UnicastSettings settings, Limiter limiter) {
    long[] counters = status.counters(unicastSlot);
    return FabricPorts.hosts(arena, config, fabrics, settings, counters, limiter, log);
  }

  /* Runs one round of the control thread. */
  private boolean runRound() {
    if (closing.get()) {
      return false;
    }
    status.alive();
    if (hangDetector.isHung(System.nanoTime())) {
      log.warn("the data thread hangs, so this bridge ends");
      status.report("the data thread hung, so this bridge has ended");
      whenLost.run();
    }
    rounds++;
    boolean second = rounds % ROUNDS_PER_SECOND == 0;
    if (second) {
      clock.adjust();
      fabricMonitor.check();
    }
    /*
     * Never waits for the lock: its holder may wait for the data thread, which this thread
     * monitors.
     */
    if (lock.tryLock()) {
      try {
        if (second) {
          groups.updateRates(unicastSlot);
        }
        groups.reportSuspensions();
      } finally {
        lock.unlock();
      }
    }
    LockSupport.parkNanos(this, ROUND_NS);
    return true;
  }

  /**
   * Switches to another configuration. Unchanged groups lose no packets, and suspended groups
   * resume. Any thread but the data thread may call it.
   *
   * @return the changes, for the log
   * @throws HeddleException for a change that requires a restart, for a group that can't be joined,
   *     and while the bridge closes; the old configuration then stays in force
   */
  public String reload(BridgeConfig next) {
    lock.lock();
    try {
      if (closing.get()) {
        throw new HeddleException("the bridge is ending");
      }
      return change(next);
    } finally {
      lock.unlock();
    }
  }

  private String change(BridgeConfig next) {
    String changes = config.text().changeTo(next.text());
    FabricPorts.requireUnicast(next, fabrics);
    Map<Gid, BridgedGroup> then = groups.prepare(next.groups());
    data.setTables(tables(next, then, groups.retiredBy(then)));
    data.awaitTablesInUse();
    groups.replace(then);
    if (!addresses.equals(List.copyOf(then.keySet()))) {
      addresses = List.copyOf(then.keySet());
    }
    config = next;
    if (next.unicast() != null) {
      status.describe(unicastSlot, next.unicast().describe());
    }
    if (peering != null && next.redundancy() != null) {
      peering.configure(next.redundancy(), next.owners(), ConfigDigest.of(next));
    }
    status.nextGeneration();
    return changes;
  }

  /** Returns a description of the running bridge, for its log. */
  public String describe() {
    lock.lock();
    try {
      Collection<BridgedGroup> all = groups.all().values();
      long both = all.stream().filter(each -> each.direction() == FlowDirection.BOTH).count();
      return String.format(
          Locale.ROOT,
          "fabric a: %s; fabric b: %s; %d groups, %d of them in both directions; unicast %s;"
              + " redundancy %s%s; status at %s",
          fabrics.getFirst().describe(),
          fabrics.getLast().describe(),
          all.size(),
          both,
          config.unicast() == null ? "off" : config.unicast().describe(),
          config.redundancy() == null ? "off" : config.redundancy(),
          config.core() == BridgeConfig.NO_CORE ? "" : "; spins on processor " + config.core(),
          config.status());
    } finally {
      lock.unlock();
    }
  }

  private void release() {
    if (hosts != null) {
      hosts.close();
    }
    fabrics.forEach(FabricPort::close);
    try {
      status.close();
    } finally {
      arena.close();
    }
  }

  @Override
  public void close() {
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    /*
     * The data thread ends first: a reload in progress waits for it, and the last beacon may be
     * sent only after it has stopped forwarding.
     */
    data.end();
    if (peering != null) {
      peering.close();
    }
    control.unpark();
    control.joinUninterruptibly();
    lock.lock();
    try {
      release();
    } finally {
      lock.unlock();
    }
  }
}
