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
 * Whether anything has happened to a gateway's interfaces. Two looks may show one as it was that
 * went down and came up between them: its routes are gone, and it may be another one of its name.
 * One thread at a time.
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
   * Whether something has happened since the call before. To be asked before the host is looked at
   * again: then the next call has what that look misses.
   *
   * @param host as it was seen last
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
