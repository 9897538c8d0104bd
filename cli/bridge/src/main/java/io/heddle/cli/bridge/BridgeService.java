package io.heddle.cli.bridge;

import io.heddle.bridge.BridgeHealth;
import io.heddle.cli.kit.ServiceSupervisor;
import io.heddle.platform.LastingThread;
import io.heddle.platform.Log;
import java.util.concurrent.locks.LockSupport;

/**
 * A bridge as a service of systemd: ready once both fabrics carry, and alive as long as the data
 * thread moves. A thread of its own looks and tells.
 */
final class BridgeService implements AutoCloseable {
  private static final long LOOK_NS = 200_000_000;
  private static final int LOOKS_A_WATCHDOG = 4;

  private final ServiceSupervisor manager;
  private final BridgeHealth health;
  private final LastingThread thread;
  private final long lookNs;
  private volatile boolean ending;
  private volatile boolean ready;
  private long beats;
  private String told = "";

  BridgeService(ServiceSupervisor manager, BridgeHealth health, Log log) {
    this.manager = manager;
    this.health = health;
    beats = health.beats();
    lookNs =
        manager.watchdogNs() == 0
            ? LOOK_NS
            : Math.min(LOOK_NS, manager.watchdogNs() / LOOKS_A_WATCHDOG);
    thread = new LastingThread("heddle-bridge-notify", log, this::look);
    if (manager.isThere()) {
      thread.start();
    }
  }

  private boolean look() {
    if (ending) {
      return false;
    }
    long now = health.beats();
    if (now != beats && manager.watchdogNs() > 0) {
      manager.alive();
    }
    beats = now;
    String trouble = health.trouble();
    if (trouble != null) {
      tell(trouble);
    }
    LockSupport.parkNanos(this, lookNs);
    return true;
  }

  private void tell(String trouble) {
    String status = trouble.isEmpty() ? "both fabrics carry" : trouble;
    if (!ready && trouble.isEmpty()) {
      manager.ready(status);
      ready = true;
    } else if (!status.equals(told)) {
      manager.status(status);
    }
    told = status;
  }

  /** Has the bridge read its configuration again, and says so before and after. */
  void reload(Runnable reload) {
    if (!ready) {
      reload.run();
      return;
    }
    manager.reloading();
    try {
      reload.run();
    } finally {
      String trouble = health.trouble();
      manager.ready(trouble == null || trouble.isEmpty() ? "both fabrics carry" : trouble);
    }
  }

  /** The bridge ends. */
  @Override
  public void close() {
    if (manager.isThere()) {
      manager.stopping();
      ending = true;
      thread.unpark();
      thread.joinWhateverInterrupts();
    }
  }
}
