package io.heddle.cli.bridge;

import io.heddle.bridge.BridgeHealth;
import io.heddle.daemon.ServiceSupervisor;
import io.heddle.platform.Log;
import io.heddle.platform.ResilientThread;
import java.util.concurrent.locks.LockSupport;

/**
 * Notifier of systemd about the state of a bridge: ready once both fabrics carry packets, and alive
 * as long as the data thread runs. A thread of its own checks the bridge and notifies systemd.
 */
final class BridgeService implements AutoCloseable {
  private static final long CHECK_NS = 200_000_000;
  private static final int CHECKS_PER_WATCHDOG = 4;

  private final ServiceSupervisor manager;
  private final BridgeHealth health;
  private final ResilientThread thread;
  private final long checkNs;
  private volatile boolean ending;
  private volatile boolean ready;
  private long beats;
  private String notified = "";

  BridgeService(ServiceSupervisor manager, BridgeHealth health, Log log) {
    this.manager = manager;
    this.health = health;
    beats = health.beats();
    checkNs =
        manager.watchdogNs() == 0
            ? CHECK_NS
            : Math.min(CHECK_NS, manager.watchdogNs() / CHECKS_PER_WATCHDOG);
    thread = new ResilientThread("heddle-bridge-notify", log, this::check);
    if (manager.exists()) {
      thread.start();
    }
  }

  private boolean check() {
    if (ending) {
      return false;
    }
    long now = health.beats();
    if (now != beats && manager.watchdogNs() > 0) {
      manager.notifyWatchdog();
    }
    beats = now;
    String trouble = health.trouble();
    if (trouble != null) {
      notifySupervisor(trouble);
    }
    LockSupport.parkNanos(this, checkNs);
    return true;
  }

  private void notifySupervisor(String trouble) {
    String status = trouble.isEmpty() ? "both fabrics carry" : trouble;
    if (!ready && trouble.isEmpty()) {
      manager.ready(status);
      ready = true;
    } else if (!status.equals(notified)) {
      manager.status(status);
    }
    notified = status;
  }

  /** Reloads the configuration, and notifies systemd before and after. */
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

  /** Notifies systemd that the bridge ends. */
  @Override
  public void close() {
    if (manager.exists()) {
      manager.stopping();
      ending = true;
      thread.unpark();
      thread.joinUninterruptibly();
    }
  }
}
