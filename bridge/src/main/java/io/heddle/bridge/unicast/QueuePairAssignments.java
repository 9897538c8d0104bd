package io.heddle.bridge.unicast;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Assignments of the bridge's queue pairs at the address of one host. Each represents a service of
 * that host, or those of its queue pairs that communicate through it. Where packets name no host,
 * the assignments are per port, and each represents a service of any host. Used by the data thread
 * only.
 */
final class QueuePairAssignments {
  static final int NONE = -1;

  private final int[] services;
  /* Client and server of a service; null if the address identifies the host. */
  private final @Nullable HostPair[] endpointsOf;
  private final int[] keys;
  private final int[] conversations;
  private final long[] usedNs;

  QueuePairAssignments(int queuePairs) {
    services = new int[queuePairs];
    endpointsOf = new HostPair[queuePairs];
    keys = new int[queuePairs];
    conversations = new int[queuePairs];
    usedNs = new long[queuePairs];
    Arrays.fill(services, NONE);
  }

  /** Returns the number of the service that a queue pair represents, or {@link #NONE}. */
  int service(int index) {
    return services[index];
  }

  /** Returns the client and server of that service; null if the address identifies the host. */
  @Nullable HostPair endpointsOf(int index) {
    return endpointsOf[index];
  }

  /** Returns whether a queue pair represents this service. */
  boolean isAssignedTo(int index, @Nullable HostPair hosts, int number) {
    return services[index] == number && Objects.equals(endpointsOf[index], hosts);
  }

  /** Returns the queue key of that service. */
  int key(int index) {
    return keys[index];
  }

  /** Counts a conversation that begins or ends on a queue pair. */
  void countConversation(int index, int change, long nowNs) {
    conversations[index] += change;
    usedNs[index] = nowNs;
  }

  /**
   * Assigns a queue pair to a service.
   *
   * @param hosts the client and the server; null if the address identifies the host
   * @param idleNs a service that was unused for this long is replaced
   * @return its index, or {@link #NONE}
   */
  int assign(@Nullable HostPair hosts, int number, int key, long nowNs, long idleNs) {
    int place = NONE;
    for (int i = services.length - 1; i >= 0; i--) {
      boolean idle = conversations[i] == 0;
      if (isAssignedTo(i, hosts, number)) {
        place = i;
        break;
      }
      boolean free = services[i] == NONE || nowNs - usedNs[i] >= idleNs;
      if (place == NONE && idle && free) {
        place = i;
      }
    }
    if (place != NONE) {
      services[place] = number;
      endpointsOf[place] = hosts;
      keys[place] = key;
      usedNs[place] = nowNs;
    }
    return place;
  }
}
