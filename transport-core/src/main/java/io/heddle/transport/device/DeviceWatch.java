package io.heddle.transport.device;

import io.heddle.platform.Log;
import io.heddle.stats.StatsFile;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlTasks;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Watch over the devices: handles their asynchronous events and publishes their counters. Control
 * thread.
 *
 * <p>A broken queue pair fails its plane for its connection. A port that is down fails all its
 * planes. An address that left the GID table fails the planes that have it. An event that reports
 * the device, or our use of it, as broken ends connections.
 */
public final class DeviceWatch {
  private static final long PERIOD_NS = 100_000_000;

  private static final String CONTROL_ERROR =
      "the control thread failed while it handled a device event; the error is logged before this"
          + " line";

  /* Poll state of one device, allocated once; the device is polled ten times a second. */
  private final class Watched {
    private final NetDevice device;
    private final AsyncEventListener events;
    private final DeviceContext.CounterReader counters = this::publishCounter;
    private final Map<String, String> publishedNames = new HashMap<>();
    private long activity;
    private boolean anySilent;

    Watched(NetDevice device) {
      this.device = device;
      ControlTasks tasks = loop.tasksOf(told -> fail(device, 0, CONTROL_ERROR));
      events = (kind, qpn) -> tasks.run(() -> onEvent(device, kind, qpn));
    }

    /*
     * Polls the device, and its connections if the device had activity or a peer is silent. Most
     * connections are idle most of the time.
     */
    void poll() {
      device.context().pollAsyncEvents(events);
      long newest = device.context().activity();
      if (newest != activity || anySilent) {
        activity = newest;
        anySilent = false;
        for (DeviceConnection connection : device.connections()) {
          anySilent |= connection.pollHealth();
        }
      }
      device.context().readCounters(counters);
      device.events().flushQuiet();
    }

    private void publishCounter(String name, long value) {
      String published = publishedNames.get(name);
      if (published == null) {
        published = device.name() + "/" + name;
        publishedNames.put(name, published);
      }
      stats.setDeviceCounter(published, value);
    }
  }

  private final List<Watched> devices;
  private final boolean eventsBreak;
  private final StatsFile stats;
  private final ControlLoop loop;
  private final Log log;

  /**
   * @param eventsBreak whether a device that reports itself broken ends its connections
   */
  public DeviceWatch(
      List<NetDevice> devices, boolean eventsBreak, StatsFile stats, ControlLoop loop, Log log) {
    this.eventsBreak = eventsBreak;
    this.stats = stats;
    this.loop = loop;
    this.log = log;
    this.devices = devices.stream().map(Watched::new).toList();
  }

  /** Polls each device now and then periodically, each in a timer of its own. */
  public void begin() {
    devices.forEach(device -> loop.every(PERIOD_NS, device::poll));
  }

  private void onEvent(NetDevice device, AsyncEventListener.Kind kind, int qpn) {
    String reason =
        "device %s reports %s%s"
            .formatted(device.name(), kind, qpn == 0 ? "" : " on QP %#x".formatted(qpn));
    if (qpn != 0 && !device.isInUse(qpn)) {
      /*
       * The peer of a connection that was aborted here may still send to it. Such requests are
       * refused and are no fault.
       */
      log.info("%s, of a connection that is closed here", reason);
      return;
    }
    boolean isLogged = isLoggedByConnections(device, kind, qpn);
    log.write(
        isLogged ? Log.Level.INFO : Log.Level.WARN, reason + ": " + device.describeQueuePair(qpn));
    switch (kind) {
      case DEVICE_FATAL -> failIfConfigured(device, qpn, reason);
      case COMPLETION_QUEUE_ERROR, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR -> {
        if (qpn != 0) {
          failIfConfigured(device, qpn, reason);
        }
      }
      case QUEUE_PAIR_FATAL -> {
        if (qpn != 0) {
          device.queuePairFailed(qpn, reason);
        }
      }
      case PORT_ERROR -> device.planes().forEach(plane -> device.planeLost(plane, reason));
      case GID_CHANGE -> failLostAddresses(device, reason);
      case PORT_ACTIVE, SUBNET_CHANGE -> {
        /*
         * Nothing to do: failover offers planes again by itself, and a plane that loses its path
         * raises an event of its own.
         */
      }
    }
  }

  /*
   * Returns whether connections log this event themselves, with their peers, when they end or leave
   * a plane. Then this class logs no warning, so there is only one per event.
   */
  private boolean isLoggedByConnections(NetDevice device, AsyncEventListener.Kind kind, int qpn) {
    return switch (kind) {
      case PORT_ACTIVE, GID_CHANGE, SUBNET_CHANGE -> true;
      case PORT_ERROR -> !device.connections().isEmpty();
      case QUEUE_PAIR_FATAL -> qpn != 0;
      case DEVICE_FATAL -> eventsBreak && !device.connections().isEmpty();
      case COMPLETION_QUEUE_ERROR, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR ->
          eventsBreak && qpn != 0;
    };
  }

  private void failIfConfigured(NetDevice device, int qpn, String reason) {
    if (eventsBreak) {
      fail(device, qpn, reason);
    }
  }

  private void fail(NetDevice device, int qpn, String reason) {
    List<DeviceConnection> ending = device.failConnections(qpn, reason);
    /*
     * The report is delayed: a driven communicator finds the completion with the details, and
     * reports those to the peer.
     */
    loop.schedule(PERIOD_NS, () -> ending.forEach(connection -> connection.reportFailure(reason)));
  }

  private static void failLostAddresses(NetDevice device, String reason) {
    GidTable table = device.context().gidTable();
    for (Gid address : device.addressesInUse()) {
      if (table.indexOf(address).isEmpty()) {
        device.addressLost(address, reason + ", and its table has " + address + " no more");
      }
    }
    device.findPlanes();
  }
}
