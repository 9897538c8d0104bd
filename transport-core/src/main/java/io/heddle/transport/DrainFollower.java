package io.heddle.transport;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.stats.DrainOrders;
import java.util.List;
import java.util.Set;

/** Has running and new connections do what {@link DrainOrders} says. Control thread. */
final class DrainFollower {
  private static final long LOOK_NS = 100_000_000;

  private final DrainOrders orders;
  private final List<NetDevice> devices;
  private final ControlLoop loop;
  private final Log log;

  private Set<String> current = Set.of();
  private String trouble = "";

  DrainFollower(DrainOrders orders, List<NetDevice> devices, ControlLoop loop, Log log) {
    this.orders = orders;
    this.devices = devices;
    this.loop = loop;
    this.log = log;
  }

  /** Looks now, and again until the loop ends. */
  void look() {
    try {
      Set<String> next = orders.keys();
      if (!next.equals(current)) {
        log.info("drained planes by %s: %s", orders.file(), next.isEmpty() ? "none" : next);
        current = next;
      }
      trouble = "";
    } catch (HeddleException unreadable) {
      String sentence = String.valueOf(unreadable.getMessage());
      if (!sentence.equals(trouble)) {
        log.warn("%s; %s stay drained", sentence, current);
        trouble = sentence;
      }
    }
    for (NetDevice device : devices) {
      for (Connection connection : device.connections()) {
        Failover failover = connection.failover();
        if (failover != null) {
          failover.drain(current);
        }
      }
    }
    loop.schedule(LOOK_NS, this::look);
  }
}
