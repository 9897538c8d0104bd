package io.heddle.tools.switching;

import io.heddle.addr.AddressPrefix;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.ResilientThread;
import io.heddle.platform.Shell;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Watch of all switches of a lab, by one thread. The thread polls the links' state twenty times per
 * second, and updates SprayLink's loads every two milliseconds.
 */
final class SwitchWatch implements AutoCloseable {
  /**
   * Time in ns between two updates of SprayLink's loads. The paper leaves it open; a shorter time
   * would cost more, since reading a switch's queues takes up to 100 µs of a processor.
   */
  private static final long INTERVAL_NS = 2_000_000;

  private static final long POLL_NS = 50_000_000;

  private final List<WatchedSwitch> switches;

  /* Held for each use of a SwitchProgram, which allows one thread at a time. */
  private final ReentrantLock lock = new ReentrantLock();
  private final ResilientThread thread;
  private final CountDownLatch lost = new CountDownLatch(1);
  private volatile SwitchingMode mode;
  private volatile boolean over;

  /* The next two fields are used only by the watching thread. */
  private long nextLoads = System.nanoTime();
  private long nextPoll = nextLoads;

  /** Switch with its links, and whether each member of each group was alive at the last poll. */
  private record WatchedSwitch(
      LabSwitch own, SwitchProgram program, KernelLinks links, List<boolean[]> alive) {}

  SwitchWatch(List<LabSwitch> switches, List<SwitchProgram> programs, SwitchingMode mode, Log log) {
    this.mode = mode;
    thread =
        new ResilientThread("heddle-switches", log, this::round)
            .onPersistentFailure(lost::countDown);
    this.switches = new ArrayList<>();
    try {
      for (int i = 0; i < switches.size(); i++) {
        this.switches.add(watched(switches.get(i), programs.get(i)));
      }
    } catch (RuntimeException failed) {
      this.switches.forEach(each -> each.links().close());
      throw failed;
    }
  }

  private static WatchedSwitch watched(LabSwitch own, SwitchProgram program) {
    List<boolean[]> alive = new ArrayList<>();
    for (SwitchGroup group : own.groups()) {
      boolean[] all = new boolean[group.members().size()];
      Arrays.fill(all, true);
      alive.add(all);
    }
    return new WatchedSwitch(own, program, KernelLinks.open(own), alive);
  }

  /** Polls once and then starts the thread. If the poll fails, closes the switches' sockets. */
  void start() {
    try {
      poll();
    } catch (RuntimeException failed) {
      switches.forEach(each -> each.links().close());
      throw failed;
    }
    thread.start();
  }

  /** Changes the switching mode of all switches. */
  void configure(SwitchingMode changed, SprayScope scope) {
    runExclusively(() -> {
      switches.forEach(each -> each.program().configure(changed, scope));
      mode = changed;
      return changed;
    });
    thread.unpark();
  }

  void addPort(String name, String port) {
    runExclusively(() -> {
      switches.stream()
          .filter(each -> each.own().name().equals(name))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("there is no switch " + name))
          .program()
          .addPort(port);
      return port;
    });
  }

  /** Waits until the thread has failed persistently. */
  void awaitFailure() throws InterruptedException {
    lost.await();
  }

  void remove() {
    runExclusively(() -> {
      switches.forEach(each -> each.program().remove());
      over = true;
      return over;
    });
  }

  List<LinkCount> counts() {
    return runExclusively(
        () -> switches.stream().flatMap(each -> each.program().counts().stream()).toList());
  }

  /* Runs a step while the thread neither polls nor updates loads. */
  private <T> T runExclusively(Supplier<T> step) {
    if (lost.getCount() == 0) {
      throw new HeddleException(
          "the watch of the lab's switches has failed (see the lab's log); recreate the lab");
    }
    lock.lock();
    try {
      return step.get();
    } finally {
      lock.unlock();
    }
  }

  private boolean round() {
    for (long wait = waitNs(); !over && wait > 0; wait = waitNs()) {
      LockSupport.parkNanos(this, wait);
    }
    lock.lock();
    try {
      if (over) {
        return false;
      }
      long now = System.nanoTime();
      nextLoads = Math.max(nextLoads + INTERVAL_NS, now);
      if (mode == SwitchingMode.SPRAYLINK) {
        detect();
      }
      if (now - nextPoll >= 0) {
        nextPoll = now + POLL_NS;
        poll();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /*
   * Returns the ns until the next poll or update. Computed again after each wait, since the mode
   * may have changed.
   */
  private long waitNs() {
    boolean loads = mode == SwitchingMode.SPRAYLINK && nextLoads - nextPoll < 0;
    return (loads ? nextLoads : nextPoll) - System.nanoTime();
  }

  private void detect() {
    for (WatchedSwitch each : switches) {
      if (each.program().isIdle()) {
        continue;
      }
      Map<Integer, Long> queues = each.links().queues();
      for (int group = 0; group < each.own().groups().size(); group++) {
        each.program()
            .detect(
                group,
                each.own().groups().get(group).members().stream()
                    .mapToLong(member -> queues.getOrDefault(each.links().index(member.link()), 0L))
                    .toArray());
      }
    }
  }

  private void poll() {
    for (WatchedSwitch each : switches) {
      Set<Integer> carrying = each.links().interfacesWithCarrier();
      Map<AddressPrefix, Integer> routes = each.links().routes();
      updateRates(each);
      for (int number = 0; number < each.own().groups().size(); number++) {
        SwitchGroup group = each.own().groups().get(number);
        boolean[] now = each.links().alive(group, carrying, routes);
        boolean[] before = each.alive().get(number);
        if (!Arrays.equals(now, before) && restoreRoutes(each.own(), group, before, now)) {
          each.program().setAlive(number, now);
          each.alive().set(number, now);
        }
      }
    }
  }

  private static void updateRates(WatchedSwitch each) {
    Map<Integer, Long> rates = each.links().rates();
    for (int number = 0; number < each.own().groups().size(); number++) {
      each.program()
          .setRates(
              number,
              each.own().groups().get(number).members().stream()
                  .mapToLong(member ->
                      rates.getOrDefault(each.links().index(member.link()), member.bitsPerSecond()))
                  .toArray());
    }
  }

  /*
   * Restores the routes of links that were down and are up. Returns whether it succeeded. If a link
   * went down again meanwhile, the next poll notices.
   */
  private boolean restoreRoutes(LabSwitch own, SwitchGroup group, boolean[] before, boolean[] now) {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < now.length; i++) {
      if (now[i] && !before[i]) {
        lines.append(LabSwitch.route(group, group.members().get(i))).append('\n');
      }
    }
    if (lines.isEmpty()) {
      return true;
    }
    try {
      Shell.run(List.of("ip", "-6", "-n", own.namespace(), "-batch", "-"), lines.toString());
      return true;
    } catch (RuntimeException downAgain) {
      Set<Integer> carrying;
      try (KernelLinks fresh = KernelLinks.open(own)) {
        carrying = fresh.interfacesWithCarrier();
        for (int i = 0; i < now.length; i++) {
          if (now[i] && !carrying.contains(fresh.index(group.members().get(i).link()))) {
            return false;
          }
        }
      }
      throw downAgain;
    }
  }

  @Override
  public void close() {
    over = true;
    thread.unpark();
    thread.joinUninterruptibly();
    switches.forEach(each -> {
      each.links().close();
      each.program().close();
    });
  }
}
