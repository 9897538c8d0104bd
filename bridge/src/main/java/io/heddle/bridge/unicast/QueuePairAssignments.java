package io.heddle.bridge.unicast;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Table of the services and queue pairs of one remote host that the bridge's queue pairs represent.
 * On InfiniBand, where packets contain no hosts' addresses, there is a table for each port of a
 * client instead, and a queue pair may represent a service of any remote host. Used by the data
 * thread only.
 */
final class QueuePairAssignments {
  static final int NONE = -1;

  private final int[] services;
  /*
   * Client and server of a service on InfiniBand; null in other fabrics, where the address
   * identifies the server.
   */
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

  /**
   * Returns the queue pair number of the service that a queue pair of the bridge represents, or
   * {@link #NONE}.
   */
  int service(int index) {
    return services[index];
  }

  /**
   * Returns the client and server of the service that a queue pair represents on InfiniBand; null
   * in other fabrics.
   */
  @Nullable HostPair endpointsOf(int index) {
    return endpointsOf[index];
  }

  /** Returns whether a queue pair represents this service. */
  boolean isAssignedTo(int index, @Nullable HostPair hosts, int number) {
    return services[index] == number && Objects.equals(endpointsOf[index], hosts);
  }

  /** Returns the queue key of the service that a queue pair represents. */
  int key(int index) {
    return keys[index];
  }

  /** Counts a conversation that begins (1) or ends (−1) on a queue pair. */
  void countConversation(int index, int change, long nowNs) {
    conversations[index] += change;
    usedNs[index] = nowNs;
  }

  /**
   * Assigns a queue pair to a service.
   *
   * @param hosts client and server on InfiniBand; null in other fabrics
   * @param number number of the service's queue pair
   * @param key queue key of the service's queue pair
   * @param idleNs time without use after which another service may be replaced
   * @return index of the queue pair, or {@link #NONE}
   */
  int assign(@Nullable HostPair hosts, int number, int key, long nowNs, long idleNs) {
    int slot = NONE;
    for (int i = services.length - 1; i >= 0; i--) {
      boolean idle = conversations[i] == 0;
      if (isAssignedTo(i, hosts, number)) {
        slot = i;
        break;
      }
      boolean free = services[i] == NONE || nowNs - usedNs[i] >= idleNs;
      if (slot == NONE && idle && free) {
        slot = i;
      }
    }
    if (slot != NONE) {
      services[slot] = number;
      endpointsOf[slot] = hosts;
      keys[slot] = key;
      usedNs[slot] = nowNs;
    }
    return slot;
  }
}
