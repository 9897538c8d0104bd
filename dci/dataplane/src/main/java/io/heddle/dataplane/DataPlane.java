package io.heddle.dataplane;

import io.heddle.addr.AddressPrefix;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Interface between a gateway's control and its forwarding. A packet's destination selects its
 * policy, the packet's hash selects one of the policy's buckets, and the bucket has a segment list.
 * A steering entry (a steer) overrides the bucket for one queue pair. The data plane marks the
 * packet with the list, and determines the packet's outer flow label.
 *
 * <p>The data plane keeps forwarding when its process ends. Used by one thread at a time.
 */
public interface DataPlane extends AutoCloseable {
  int MOST_POLICIES = 64;

  /** Largest list id; the smallest is 1. */
  int MOST_LISTS = 64;

  /**
   * Returns whether the data plane already existed when it was opened, and has kept its flows and
   * steers.
   */
  boolean isAdopted();

  /**
   * Returns whether the kernel must derive outer flow labels from packet hashes ({@code
   * net.ipv6.seg6_flowlabel} 1). If false, the kernel must leave the labels 0 (setting −1), because
   * the data plane writes them.
   */
  boolean usesSeg6Labels();

  void configure(DataPlaneSettings settings);

  /**
   * Replaces the policies.
   *
   * @param policies the policies' numbers, 0 to {@link #MOST_POLICIES} − 1, by destination; the
   *     longest prefix wins
   */
  void setPolicies(Map<AddressPrefix, Integer> policies);

  void setBuckets(int policy, Buckets buckets);

  Buckets buckets(int policy);

  /** Sets whether a list is alive. A queue pair leaves a dead list without waiting for a gap. */
  void setAlive(int list, boolean alive);

  /**
   * Sets the interfaces for the next {@link #attach}.
   *
   * @param interfaces indexes of the LAN interfaces; a recreated interface has a new index
   */
  void setInterfaces(List<Integer> interfaces);

  /** Attaches the data plane to each of its interfaces, unless it is attached already. */
  void attach();

  /**
   * Steers queue pairs to lists, whatever their packets' hashes are.
   *
   * @return keys for which there is no room; the other queue pairs are steered
   */
  Set<SteerKey> steer(Map<SteerKey, Integer> steers);

  /** Removes a steer. Returns whether there was one. */
  boolean release(SteerKey key);

  Map<SteerKey, Integer> steers();

  List<FlowRecord> flows();

  TrafficCounters counters();

  /** Returns the traffic of each list, by list id. Id 0 is traffic for which no list was alive. */
  Map<Integer, PacketCount> listCounters();

  /** Removes the data plane: from the next packet on, no packet is marked. */
  void remove();

  /** Closes this handle. The data plane keeps forwarding. */
  @Override
  void close();
}
