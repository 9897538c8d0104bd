package io.heddle.bridge.fabric;

import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.verbs.Gid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Port of the bridge in one fabric, which hides the kind of fabric. This is its control side: the
 * control path opens, joins, leaves, checks, creates paths, and closes. {@link #packets} is the
 * data side.
 */
public interface FabricPort extends AutoCloseable {
  String name();

  /** Returns kind, interface and addresses, for people. */
  String describe();

  /** Returns the bridge's own addresses in the fabric, with IPv4 in mapped form. */
  List<Gid> ownAddresses();

  /** Returns the prefixes of the fabric's hosts, from the interface's addresses. */
  List<LoopRules.Prefix> ownPrefixes();

  /** Returns the data side of the port. */
  PacketPort packets();

  /**
   * Checks the state of the port.
   *
   * @return the fault in words; empty for none
   */
  String check();

  /**
   * Joins a group as a receiver. If the group was joined with another MGID before, that one is
   * left.
   */
  void join(GroupAddress group);

  void leave(Gid group);

  /**
   * Returns the path to a group.
   *
   * @param trafficClass traffic class in the IP header
   */
  SendPath sendPathTo(GroupAddress group, int trafficClass);

  /** Frees the resources of a path that is no longer used. */
  void retire(SendPath sendPath);

  /**
   * Returns the path to a host from an address that needn't be the port's own. Only a port that was
   * opened for foreign source addresses can send from them. On a wire port the data thread may call
   * it.
   */
  SendPath sendPathBetween(Gid source, Gid destination, int trafficClass);

  @Override
  void close();

  /**
   * Returns the first address of a family, for IPv6 preferably one that isn't link-local; null if
   * there is none.
   */
  static @Nullable Gid firstOf(List<Gid> addresses, boolean ipv4) {
    Gid first = null;
    for (Gid each : addresses) {
      if (each.isIpv4Mapped() == ipv4 && (first == null || first.isLinkLocal())) {
        first = each;
      }
    }
    return first;
  }
}
