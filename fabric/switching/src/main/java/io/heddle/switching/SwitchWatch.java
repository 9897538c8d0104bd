package io.heddle.switching;

import io.heddle.addr.AddressPrefix;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LastingThread;
import io.heddle.platform.Log;
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
 * The thread that looks after all switches of a lab. Twenty times a second it looks which links are
 * up, and every other millisecond it gives SprayLink the links' loads.
 */
final class SwitchWatch implements AutoCloseable {
  /** SprayLink's interval, our choice: a look at a switch takes up to 100 µs of a processor. */
  private static final long INTERVAL_NS = 2_000_000;

  private static final long LOOK_NS = 50_000_000;

  private final List<Watched> switches;
  private final CommandRunner runner;

  /* Forwardings are for one thread at a time. */
  private final ReentrantLock lock = new ReentrantLock();
  private final LastingThread thread;
  private final CountDownLatch lost = new CountDownLatch(1);
  private volatile SwitchingMode mode;
  private volatile boolean over;

  /* The thread's own. */
  private long nextLoads = System.nanoTime();
  private long nextLook = nextLoads;

  /** One switch, with what was last said of each group. */
  private record Watched(
      LabSwitch own, SwitchForwarding forwarding, KernelLinks links, List<boolean[]> alive) {}

  SwitchWatch(
      List<LabSwitch> switches,
      List<SwitchForwarding> forwardings,
      SwitchingMode mode,
      CommandRunner runner,
      Log log) {
    this.runner = runner;
    this.mode = mode;
    thread = new LastingThread("heddle-switches", log, this::round).orElse(lost::countDown);
    this.switches = new ArrayList<>();
    try {
      for (int i = 0; i < switches.size(); i++) {
        this.switches.add(watched(switches.get(i), forwardings.get(i)));
      }
    } catch (RuntimeException failed) {
      this.switches.forEach(each -> each.links().close());
      throw failed;
    }
  }

  private static Watched watched(LabSwitch own, SwitchForwarding forwarding) {
    List<boolean[]> alive = new ArrayList<>();
    for (SwitchGroup group : own.groups()) {
      boolean[] all = new boolean[group.members().size()];
      Arrays.fill(all, true);
      alive.add(all);
    }
    return new Watched(own, forwarding, KernelLinks.open(own), alive);
  }

  /** Begins with a first look; where that fails, its links are closed. */
  void start() {
    try {
      look();
    } catch (RuntimeException failed) {
      switches.forEach(each -> each.links().close());
      throw failed;
    }
    thread.start();
  }

  /** What is done from now on. */
  void configure(SwitchingMode changed, SprayScope scope) {
    between(() -> {
      switches.forEach(each -> each.forwarding().configure(changed, scope));
      mode = changed;
      return changed;
    });
    thread.unpark();
  }

  void addPort(String name, String port) {
    between(() -> {
      switches.stream()
          .filter(each -> each.own().name().equals(name))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("no switch is named " + name))
          .forwarding()
          .addPort(port);
      return port;
    });
  }

  /** Waits until the thread does nothing any more but fail. */
  void awaitLoss() throws InterruptedException {
    lost.await();
  }

  void remove() {
    between(() -> {
      switches.forEach(each -> each.forwarding().remove());
      over = true;
      return over;
    });
  }

  List<LinkCount> counts() {
    return between(
        () -> switches.stream().flatMap(each -> each.forwarding().counts().stream()).toList());
  }

  /* Between two looks of the thread. */
  private <T> T between(Supplier<T> step) {
    if (lost.getCount() == 0) {
      throw new HeddleException(
          "nobody looks after the lab's switches any more, as its log says; make the lab anew");
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
      if (now - nextLook >= 0) {
        nextLook = now + LOOK_NS;
        look();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /* The mode may change meanwhile. */
  private long waitNs() {
    boolean loads = mode == SwitchingMode.SPRAYLINK && nextLoads - nextLook < 0;
    return (loads ? nextLoads : nextLook) - System.nanoTime();
  }

  private void detect() {
    for (Watched each : switches) {
      if (!(each.forwarding() instanceof BpfForwarding program) || program.isIdle()) {
        continue;
      }
      Map<Integer, Long> queues = each.links().queues();
      for (int group = 0; group < each.own().groups().size(); group++) {
        program.detect(
            group,
            each.own().groups().get(group).members().stream()
                .mapToLong(member -> queues.getOrDefault(each.links().index(member.link()), 0L))
                .toArray());
      }
    }
  }

  private void look() {
    for (Watched each : switches) {
      Set<Integer> carrying = each.links().carrying();
      Map<AddressPrefix, Integer> routes = each.links().routes();
      if (each.forwarding() instanceof BpfForwarding program) {
        lookAtRates(each, program);
      }
      for (int number = 0; number < each.own().groups().size(); number++) {
        SwitchGroup group = each.own().groups().get(number);
        boolean[] now = each.links().alive(group, carrying, routes);
        boolean[] before = each.alive().get(number);
        if (!Arrays.equals(now, before) && repaired(each.own(), group, before, now)) {
          each.forwarding().setAlive(number, now);
          each.alive().set(number, now);
        }
      }
    }
  }

  private static void lookAtRates(Watched each, BpfForwarding program) {
    Map<Integer, Long> rates = each.links().rates();
    for (int number = 0; number < each.own().groups().size(); number++) {
      program.setRates(
          number,
          each.own().groups().get(number).members().stream()
              .mapToLong(member ->
                  rates.getOrDefault(each.links().index(member.link()), member.bitsPerSecond()))
              .toArray());
    }
  }

  /* A link that was down has lost its route. It may go down again meanwhile: then the next look tells. */
  private boolean repaired(LabSwitch own, SwitchGroup group, boolean[] before, boolean[] now) {
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
      runner.run(List.of("ip", "-6", "-n", own.namespace(), "-batch", "-"), lines.toString());
      return true;
    } catch (RuntimeException downAgain) {
      Set<Integer> carrying;
      try (KernelLinks fresh = KernelLinks.open(own)) {
        carrying = fresh.carrying();
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
    thread.joinWhateverInterrupts();
    switches.forEach(each -> {
      each.links().close();
      each.forwarding().close();
    });
  }
}
