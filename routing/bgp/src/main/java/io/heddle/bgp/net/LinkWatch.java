package io.heddle.bgp.net;

import io.heddle.addr.AddressEvent;
import io.heddle.addr.AddressWatcher;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.platform.SystemCallException;
import java.util.HashMap;
import java.util.Map;

/** Watcher, by netlink, of whether the host's interfaces are up. For the loop's thread. */
public final class LinkWatch implements AutoCloseable {
  /** Listener for changes; the initial state is not reported. */
  @FunctionalInterface
  public interface Listener {
    /**
     * @param up whether packets can flow: the interface is administratively up and has a carrier
     */
    void linkChanged(String interfaceName, boolean up);
  }

  private final EventLoop loop;
  private final Listener listener;
  private final AddressWatcher watcher;
  private final Map<String, Boolean> known = new HashMap<>();

  /**
   * @throws SystemCallException if netlink can't be used
   */
  public LinkWatch(EventLoop loop, Listener listener) {
    this.loop = loop;
    this.listener = listener;
    watcher = AddressWatcher.open();
    try {
      HostAddresses.read().links().forEach(link -> known.put(link.name(), link.isUp()));
      loop.register(watcher.fileDescriptor(), EventLoop.READABLE, events -> poll());
    } catch (RuntimeException failure) {
      watcher.close();
      throw failure;
    }
  }

  private void poll() {
    watcher.poll(event -> {
      switch (event) {
        case AddressEvent.LinkChanged changed -> setState(changed.link(), changed.link().isUp());
        case AddressEvent.LinkRemoved removed -> setState(removed.link(), false);
        case AddressEvent.EventsLost lost ->
            HostAddresses.read().links().forEach(link -> setState(link, link.isUp()));
        case AddressEvent.AddressChanged address -> {
          /* Ignored: a session looks up its source address itself. */
        }
        case AddressEvent.AddressRemoved address -> {
          /* Ignored: a session looks up its source address itself. */
        }
      }
    });
  }

  private void setState(NetworkLink link, boolean up) {
    Boolean before = known.put(link.name(), up);
    if (before == null || before != up) {
      listener.linkChanged(link.name(), up);
    }
  }

  @Override
  public void close() {
    loop.unregister(watcher.fileDescriptor());
    watcher.close();
  }
}
