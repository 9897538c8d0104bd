package io.heddle.dataplane;

import io.heddle.addr.AddressPrefix;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Interface between a gateway's control and its forwarding. A packet's destination selects its
 * policy, its hash a bucket, and the bucket a segment list; a steer overrides the bucket for one
 * queue pair. The data plane marks the packet with the list and sets the hash that its outer flow
 * label is made of.
 *
 * <p>It keeps forwarding when its process ends. Used by one thread at a time.
 */
public interface DataPlane extends AutoCloseable {
  int MOST_POLICIES = 64;

  /** Largest list id; the smallest is 1. */
  int MOST_LISTS = 64;

  /** Returns whether it was already at work when opened, with its flows and steers. */
  boolean isAdopted();

  /**
   * Returns whether the kernel has to derive outer flow labels from packet hashes ({@code
   * net.ipv6.seg6_flowlabel} 1), or to leave them 0 for the data plane to write (-1).
   */
  boolean usesSeg6Labels();

  void configure(DataPlaneSettings settings);

  /**
   * Replaces the policies.
   *
   * @param policies their numbers, 0 to {@link #MOST_POLICIES} − 1, by destination; the longest
   *     prefix wins
   */
  void setPolicies(Map<AddressPrefix, Integer> policies);

  void setBuckets(int policy, Buckets buckets);

  Buckets buckets(int policy);

  /** Sets whether a list is alive. A queue pair leaves a dead list without waiting for a gap. */
  void setAlive(int list, boolean alive);

  /**
   * Sets the interfaces for the next {@link #attach}.
   *
   * @param interfaces indexes of the LAN's; a recreated interface has a new one
   */
  void setInterfaces(List<Integer> interfaces);

  /** Attaches the data plane to its interfaces where it isn't attached yet. */
  void attach();

  /**
   * Steers queue pairs to lists, whatever their hash.
   *
   * @return keys that it has no room for; the others are steered
   */
  Set<SteerKey> steer(Map<SteerKey, Integer> steers);

  /** Ends a steer. Returns whether there was one. */
  boolean release(SteerKey key);

  Map<SteerKey, Integer> steers();

  List<FlowRecord> flows();

  TrafficCounters counters();

  /** Returns the traffic of each list, by id; 0 is traffic for which no list was alive. */
  Map<Integer, PacketCount> listCounters();

  /** Removes the data plane: from the next packet on nothing is marked. */
  void remove();

  /** Closes the handle. The data plane keeps forwarding. */
  @Override
  void close();
}
