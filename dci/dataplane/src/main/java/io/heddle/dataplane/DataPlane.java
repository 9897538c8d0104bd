package io.heddle.dataplane;

import io.heddle.addr.AddressPrefix;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The seam between what decides and what forwards. A packet's destination gives its policy, its
 * hash a bucket, and the bucket a segment list; a steer overrides the bucket for one queue pair.
 * The data plane marks the packet with the list and sets the hash that its outer flow label is made
 * of.
 *
 * <p>It works on when its process ends. One thread at a time.
 */
public interface DataPlane extends AutoCloseable {
  int MOST_POLICIES = 64;

  /** Identifiers of lists are 1 to this. */
  int MOST_LISTS = 64;

  /** Whether it was found at work, with its flows and steers. */
  boolean isAdopted();

  /**
   * Whether the kernel is to make outer flow labels of packets' hashes ({@code
   * net.ipv6.seg6_flowlabel} 1), or to leave them 0 for the data plane to write (-1).
   */
  boolean labelsBySeg6();

  void configure(DataPlaneSettings settings);

  /**
   * The policies from now on.
   *
   * @param policies their numbers, 0 to {@link #MOST_POLICIES} − 1, by destination; the longest
   *     prefix wins
   */
  void setPolicies(Map<AddressPrefix, Integer> policies);

  void setBuckets(int policy, Buckets buckets);

  Buckets buckets(int policy);

  /** Whether a list may be waited on: a queue pair leaves a dead one at once. */
  void setAlive(int list, boolean alive);

  /**
   * Where it belongs from now on; {@link #attach} puts it there.
   *
   * @param interfaces indexes of the LAN's, which are others where one was made anew
   */
  void belong(List<Integer> interfaces);

  /** Puts the data plane to work where it isn't already. */
  void attach();

  /**
   * Sends these queue pairs' packets by these lists, whatever their hash.
   *
   * @return those that it has no room for; the others are steered
   */
  Set<SteerKey> steer(Map<SteerKey, Integer> steers);

  /** Gives a queue pair back to its hash; whether it was steered. */
  boolean release(SteerKey key);

  Map<SteerKey, Integer> steers();

  List<FlowRecord> flows();

  TrafficCounters counters();

  /** What went by each list, by its identifier; 0 is what no list was alive for. */
  Map<Integer, PacketCount> listCounters();

  /** Takes the data plane off: from the next packet on nothing is marked. */
  void remove();

  /** Lets go of it. It works on. */
  @Override
  void close();
}
