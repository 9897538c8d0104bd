package io.heddle.gateway;

import io.heddle.addr.AddressEvent;
import io.heddle.addr.AddressWatcher;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import java.util.HashSet;
import java.util.Set;

/**
 * Watcher of changes of a gateway's interfaces. It also detects that an interface went down and
 * came up again between two polls, so that its routes are gone, or that another interface got its
 * name. Used by one thread at a time.
 */
final class LinkEvents implements AutoCloseable {
  private final AddressWatcher watcher = AddressWatcher.open();
  private final Set<String> names;
  private boolean any;

  LinkEvents(GatewayConfig config) {
    names = new HashSet<>(config.lan());
    config.lists().map(ListConfig::device).forEach(names::add);
  }

  /**
   * Returns whether an interface has changed since the last call. Called before the host is read:
   * the next call then reports all changes that this reading has missed.
   *
   * @param host state of the host when it was last read
   */
  boolean poll(HostAddresses host) {
    any = false;
    watcher.poll(event -> any |= concerns(event, host));
    return any;
  }

  private boolean concerns(AddressEvent event, HostAddresses host) {
    return switch (event) {
      case AddressEvent.LinkChanged(var link) -> names.contains(link.name());
      case AddressEvent.LinkRemoved(var link) -> names.contains(link.name());
      case AddressEvent.AddressChanged(var address) -> concerns(address, host);
      case AddressEvent.AddressRemoved(var address) -> concerns(address, host);
      case AddressEvent.EventsLost() -> true;
    };
  }

  private boolean concerns(AssignedAddress address, HostAddresses host) {
    return host.links().stream()
        .filter(each -> each.index() == address.interfaceIndex())
        .map(NetworkLink::name)
        .anyMatch(names::contains);
  }

  @Override
  public void close() {
    watcher.close();
  }
}
