package io.heddle.switching;

import io.heddle.addr.AddressPrefix;
import io.heddle.platform.HeddleException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The thread that looks after all switches of a lab. Every other millisecond it gives SprayLink the
 * links' loads, and now and then it looks which links are up.
 */
final class SwitchWatch implements AutoCloseable {
  /** SprayLink's interval, our choice: a look at a switch takes up to 100 µs of a processor. */
  private static final long INTERVAL_NS = 2_000_000;

  private static final int INTERVALS_A_LOOK = 25;

  private final List<Watched> switches;
  private final CommandRunner runner;

  /* Forwardings are for one thread at a time. */
  private final ReentrantLock lock = new ReentrantLock();
  private final Thread thread =
      Thread.ofPlatform().daemon().name("heddle-switches").unstarted(this::run);
  private volatile SwitchingMode mode;
  private volatile boolean over;
  private volatile @Nullable Throwable failure;

  /** One switch, with what was last said of each group. */
  private record Watched(
      LabSwitch own, SwitchForwarding forwarding, KernelLinks links, List<boolean[]> alive) {}

  SwitchWatch(
      List<LabSwitch> switches,
      List<SwitchForwarding> forwardings,
      SwitchingMode mode,
      CommandRunner runner) {
    this.runner = runner;
    this.mode = mode;
    this.switches = new java.util.ArrayList<>();
    for (int i = 0; i < switches.size(); i++) {
      List<boolean[]> alive =
          switches.get(i).groups().stream()
              .map(group -> {
                boolean[] all = new boolean[group.members().size()];
                Arrays.fill(all, true);
                return all;
              })
              .toList();
      this.switches.add(
          new Watched(
              switches.get(i),
              forwardings.get(i),
              KernelLinks.open(switches.get(i)),
              new java.util.ArrayList<>(alive)));
    }
  }

  void start() {
    look();
    thread.start();
  }

  /** What is done from now on. */
  void configure(SwitchingMode changed, SprayScope scope) {
    between(() -> {
      switches.forEach(each -> each.forwarding().configure(changed, scope));
      mode = changed;
      return changed;
    });
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
    Throwable failed = failure;
    if (failed != null) {
      throw new HeddleException("the watch over the lab's switches has ended: " + failed, failed);
    }
    lock.lock();
    try {
      return step.get();
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    try {
      long next = System.nanoTime();
      for (int interval = 1; !over; interval++) {
        next = Math.max(next + INTERVAL_NS, System.nanoTime());
        while (!over && System.nanoTime() - next < 0) {
          LockSupport.parkNanos(next - System.nanoTime());
        }
        lock.lock();
        try {
          if (mode == SwitchingMode.SPRAYLINK) {
            detect();
          }
          if (interval % INTERVALS_A_LOOK == 0) {
            look();
          }
        } finally {
          lock.unlock();
        }
      }
    } catch (Throwable failed) {
      if (!over) {
        failure = failed;
      }
    }
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
          each.alive().set(number, now);
          each.forwarding().setAlive(number, now);
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
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    switches.forEach(each -> {
      each.links().close();
      each.forwarding().close();
    });
  }
}
