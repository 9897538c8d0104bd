package io.heddle.bridge.unicast;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the bridge's queue pairs stand for where they are seen at the address of one host: each for
 * a service of that host, or for those of its numbers that talk by it. Where packets name no host,
 * what they stand for to one port: each for a service of any host. The data thread's.
 */
final class HostNumbers {
  static final int NONE = -1;

  private final int[] services;
  /* Who asked for a service, and whose it is; null where that host is the only one. */
  private final @Nullable Hosts[] asked;
  private final int[] keys;
  private final int[] conversations;
  private final long[] usedNs;

  HostNumbers(int queuePairs) {
    services = new int[queuePairs];
    asked = new Hosts[queuePairs];
    keys = new int[queuePairs];
    conversations = new int[queuePairs];
    usedNs = new long[queuePairs];
    Arrays.fill(services, NONE);
  }

  /** The number of the service that a queue pair stands for, or {@link #NONE}. */
  int service(int index) {
    return services[index];
  }

  /** Who asked for that service, and whose it is; null where there is one such host. */
  @Nullable Hosts asked(int index) {
    return asked[index];
  }

  /** Whether a queue pair stands for this service. */
  boolean serves(int index, @Nullable Hosts hosts, int number) {
    return services[index] == number && Objects.equals(asked[index], hosts);
  }

  /** The queue key of that service. */
  int key(int index) {
    return keys[index];
  }

  /** A queue pair talks to one more, or one less. */
  void talks(int index, int change, long nowNs) {
    conversations[index] += change;
    usedNs[index] = nowNs;
  }

  /**
   * The queue pair that stands for a service from now on.
   *
   * @param hosts that asks, and that has it; null where that host is the only one
   * @param idleNs a service that nobody has talked to for so long makes room
   * @return its index, or {@link #NONE}
   */
  int serve(@Nullable Hosts hosts, int number, int key, long nowNs, long idleNs) {
    int place = NONE;
    for (int i = services.length - 1; i >= 0; i--) {
      boolean idle = conversations[i] == 0;
      if (serves(i, hosts, number)) {
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
      asked[place] = hosts;
      keys[place] = key;
      usedNs[place] = nowNs;
    }
    return place;
  }
}
