package io.heddle.transport.device;

import io.heddle.addr.AddressEvent;
import io.heddle.addr.AddressFlag;
import io.heddle.addr.AddressWatcher;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.ResilientThread;
import io.heddle.platform.SystemCallException;
import io.heddle.transport.control.ControlLoop;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Predicate;

/**
 * Follower of the kernel's address and link events. Takes connections off planes whose interface
 * loses its carrier or whose address is removed. Devices then search for the plane's successor
 * address. Runs on its own thread, {@code heddle-addresses}, in epoll.
 */
public final class AddressFollower implements AutoCloseable {
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLLIN = 1;
  private static final int EVENT_BYTES = 16;
  private static final int POLL_PERIOD_MS = 200;

  private final List<NetDevice> devices;
  private final ControlLoop loop;
  private final Log log;
  private boolean isRetry;
  private volatile boolean closed;

  /** Starts following events for these devices' connections. */
  public AddressFollower(List<NetDevice> devices, ControlLoop loop, Log log) {
    this.devices = devices;
    this.loop = loop;
    this.log = log;
    new ResilientThread("heddle-addresses", log, this::round).start();
  }

  private boolean round() {
    AddressWatcher watcher;
    try {
      watcher = AddressWatcher.open();
    } catch (SystemCallException refused) {
      if (isRetry) {
        throw refused;
      }
      log.warn(
          "changes of addresses and links aren't followed, planes are left by their silence only:"
              + " %s",
          String.valueOf(refused.getMessage()));
      return false;
    }
    try (watcher;
        Arena arena = Arena.ofConfined()) {
      if (isRetry) {
        /* This run follows a failed one, and events may have been missed meanwhile. */
        checkAll();
      }
      isRetry = true;
      follow(watcher, arena);
    }
    return false;
  }

  private void checkAll() {
    HostAddresses.read().links().forEach(link -> checkLink(link, link.isUp()));
    devices.forEach(NetDevice::markMissing);
    findMissingPlanes();
  }

  private void follow(AddressWatcher watcher, Arena arena) {
    long event = Memory.allocate(arena, EVENT_BYTES, EVENT_BYTES);
    MemorySegment capture = LinuxCalls.errnoCapture();
    int epoll = LinuxCalls.epollCreate();
    if (epoll < 0) {
      throw new SystemCallException("epoll_create1", -epoll);
    }
    try {
      Memory.ALL.set(Memory.NATIVE_INT, event, EPOLLIN);
      int added = LinuxCalls.epollControl(epoll, EPOLL_CTL_ADD, watcher.fileDescriptor(), event);
      if (added < 0) {
        throw new SystemCallException("epoll_ctl", -added);
      }
      while (!closed) {
        if (LinuxCalls.epollWait(capture, epoll, event, 1, POLL_PERIOD_MS) > 0) {
          watcher.poll(this::changed);
        }
      }
    } finally {
      LinuxCalls.close(epoll);
    }
  }

  private void changed(AddressEvent event) {
    switch (event) {
      case AddressEvent.LinkChanged changed -> checkLink(changed.link(), changed.link().isUp());
      case AddressEvent.LinkRemoved removed -> checkLink(removed.link(), false);
      case AddressEvent.AddressRemoved removed -> {
        Gid gone = Gid.of(removed.address().address());
        loop.execute(() -> {
          devices.forEach(device -> device.addressLost(gone, "its address is gone"));
        });
        markMissing(gone);
        findMissingPlanes();
      }
      case AddressEvent.EventsLost lost -> checkAll();
      case AddressEvent.AddressChanged changed -> {
        /*
         * Nothing to do for a plane that is back at its own address: the failover retries it
         * anyway.
         */
        if (changed.address().has(AddressFlag.DEPRECATED)) {
          markMissing(Gid.of(changed.address().address()));
        }
        findMissingPlanes();
      }
    }
  }

  private void markMissing(Gid gone) {
    for (NetDevice device : devices) {
      if (device.planes().stream().anyMatch(plane -> plane.gid().equals(gone))) {
        device.markMissing();
      }
    }
  }

  /*
   * Starts a search only on devices with a missing plane: the kernel reports addresses all the
   * time, for example at each router advertisement.
   */
  private void findMissingPlanes() {
    for (NetDevice device : devices) {
      if (device.hasMissingPlane()) {
        loop.execute(device::findPlanes);
      }
    }
  }

  private void checkLink(NetworkLink link, boolean up) {
    if (!up) {
      lost(
          plane -> plane.interfaceName().equals(link.name()),
          link.administrativelyUp()
              ? "interface " + link.name() + " has no carrier"
              : "interface " + link.name() + " is down");
    }
  }

  private void lost(Predicate<LocalPlane> which, String cause) {
    for (NetDevice device : devices) {
      for (LocalPlane plane : device.planes()) {
        if (which.test(plane)) {
          log.trace("plane %s: %s", plane.key(), cause);
          loop.execute(() -> device.planeLost(plane, cause));
        }
      }
    }
  }

  /** Asks the thread to end; doesn't wait for it. */
  @Override
  public void close() {
    closed = true;
  }
}
