package io.heddle.transport.device;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.stats.DrainOrders;
import io.heddle.transport.control.ControlLoop;
import java.io.File;
import java.util.List;
import java.util.Set;

/** Follower of {@link DrainOrders}: applies them to running and new connections. Control thread. */
public final class DrainFollower {
  private static final long POLL_PERIOD_NS = 100_000_000;

  /** Age below which a file may still be rewritten with the same file-system timestamp. */
  private static final long SETTLED_MS = 1_000;

  private final DrainOrders orders;
  private final List<NetDevice> devices;
  private final Log log;

  private final File file;

  /*
   * Modification time and length of the file when it was last read; 0 where there was none. A time
   * of −1 forces a read.
   */
  private long readModifiedMs = -1;
  private long readBytes;
  private Set<String> current = Set.of();
  private boolean anyDrained;
  private String trouble = "";

  public DrainFollower(DrainOrders orders, List<NetDevice> devices, Log log) {
    this.orders = orders;
    this.file = orders.file().toFile();
    this.devices = devices;
    this.log = log;
  }

  /** Polls now, and periodically until the loop ends. */
  public void begin(ControlLoop loop) {
    loop.every(POLL_PERIOD_NS, this::follow);
  }

  /*
   * Applies the orders to all connections. Reads the file only if it changed: the exception for an
   * absent file alone allocates some kilobytes.
   */
  void follow() {
    long modifiedMs = file.lastModified();
    long bytes = file.length();
    if (modifiedMs != readModifiedMs || bytes != readBytes) {
      boolean settled = System.currentTimeMillis() - modifiedMs > SETTLED_MS;
      readModifiedMs = read() && settled ? modifiedMs : -1;
      readBytes = bytes;
    }
    if (anyDrained || !current.isEmpty()) {
      anyDrained = !current.isEmpty();
      for (NetDevice device : devices) {
        for (DeviceConnection connection : device.connections()) {
          connection.drain(current);
        }
      }
    }
  }

  private boolean read() {
    try {
      Set<String> next = orders.keys();
      if (!next.equals(current)) {
        log.info("drained planes by %s: %s", orders.file(), next.isEmpty() ? "none" : next);
        current = next;
      }
      trouble = "";
      return true;
    } catch (HeddleException unreadable) {
      String sentence = String.valueOf(unreadable.getMessage());
      if (!sentence.equals(trouble)) {
        log.warn("%s; %s stay drained", sentence, current);
        trouble = sentence;
      }
      return false;
    }
  }
}
