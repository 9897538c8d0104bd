package io.heddle.bridge.verbs;

import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.status.FabricCounter;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PortAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Monitor of a libibverbs port: its link, its addresses, its MTU, its events, and its queue pairs.
 * Used by the control thread, except for the values that the data thread reads.
 */
final class VerbsMonitor {
  private final DeviceContext context;
  private final String device;
  private final List<Gid> own;
  private final VerbsQueueSet queues;
  private final @Nullable SubnetHosts hosts;
  private int failuresSeen;
  private final long counters;
  /* Written by the control thread, read by others. */
  private volatile GidTable table;
  private volatile boolean active;

  /**
   * @param hosts hosts of an InfiniBand subnet, whose paths become invalid when the subnet changes;
   *     null on Ethernet
   * @param counters address of the fabric's counters in the status file
   */
  VerbsMonitor(VerbsPort port, VerbsQueueSet queues, @Nullable SubnetHosts hosts, long counters) {
    this.counters = counters;
    this.hosts = hosts;
    context = port.context();
    device = context.device().name();
    own = port.addresses();
    table = context.gidTable();
    this.queues = queues;
    active = context.port().active();
  }

  /** Returns whether the port had a link at the last check. */
  boolean isActive() {
    return active;
  }

  /** Returns the port's GID table at the last check. */
  GidTable table() {
    return table;
  }

  /**
   * Checks the port. A smaller MTU applies from now on. A larger MTU than at the start doesn't,
   * since the buffers were allocated for the initial MTU.
   *
   * @param joins fault of the group memberships, in words; empty for none
   * @return all faults, in words; empty for none
   */
  String check(String joins) {
    context.pollAsyncEvents(this::take);
    List<String> faults = new ArrayList<>();
    String death = queues.death();
    if (death != null) {
      faults.add(death);
    }
    PortAttributes now = context.port();
    active = now.active();
    if (!active) {
      faults.add(device + " has no link");
    }
    int fullMtuBytes = queues.first().mtuBytes();
    int mtuBytes = Math.min(fullMtuBytes, now.activeMtu().bytes());
    queues.setMtu(mtuBytes);
    if (mtuBytes < fullMtuBytes) {
      faults.add("the MTU is " + mtuBytes + " and was " + fullMtuBytes);
    }
    table = context.gidTable();
    Set<Gid> there = new HashSet<>();
    table.entries().forEach(each -> there.add(each.gid()));
    for (Gid each : own) {
      if (!there.contains(each)) {
        faults.add("address " + each + " is gone");
      }
    }
    int failures = queues.all().stream().mapToInt(VerbsQueues::failures).sum();
    if (failures != failuresSeen) {
      FabricCounter.QUEUE_PAIR_FAILURES.set(counters, failures);
      failuresSeen = failures;
      faults.add("the queue pair has failed, " + failures + " times in all: " + lastFailure());
    }
    if (!joins.isEmpty()) {
      faults.add(joins);
    }
    return String.join(", ", faults);
  }

  private String lastFailure() {
    return queues.all().stream()
        .map(VerbsQueues::lastFailure)
        .filter(each -> !each.isEmpty())
        .collect(Collectors.joining(", "));
  }

  private void take(AsyncEventListener.Kind kind, int queuePair) {
    FabricCounter.PORT_EVENTS.add(counters, 1);
    switch (kind) {
      case DEVICE_FATAL -> queues.fail(device + " has failed for good; restart the bridge");
      case COMPLETION_QUEUE_ERROR ->
          queues.fail("a completion queue of " + device + " has failed; restart the bridge");
      case PORT_ACTIVE, PORT_ERROR, GID_CHANGE, SUBNET_CHANGE -> {
        if (hosts != null) {
          hosts.invalidateAll();
        }
      }
      case QUEUE_PAIR_FATAL, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR -> {
        /* Failed queue pairs are also detected by their completions, and reported by check(). */
      }
    }
  }
}
