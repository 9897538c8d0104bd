package io.heddle.transport.data;

import io.heddle.spray.PlaneWeights;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.DeviceContext;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.Supplier;

/**
 * Parts of a connection that its communicator uses: the device, the native memory, the queue pairs
 * and the weights.
 *
 * @param arena arena that lives as long as the connection
 * @param peersRing ring in the peer's memory for a receiver's clear-to-send entries
 * @param carrierWeights weights by which carriers are chosen
 * @param maxChunksPerPlane maximum number of chunks in flight on one plane
 * @param peer name of the peer, for the log
 * @param planeKeys keys of the planes, for the log
 * @param detachCounters action that detaches the published counters and returns unpublished ones
 */
public record ConnectionParts(
    NetDevice device,
    Arena arena,
    ConnectionMemory memory,
    PeersRing peersRing,
    CarrierPairs pairs,
    ConnectionWeights carrierWeights,
    ConnectionHealth health,
    int maxChunksPerPlane,
    String peer,
    List<String> planeKeys,
    Supplier<PlaneCounters[]> detachCounters) {
  /** Ring of clear-to-send entries in the peer's memory. */
  public record PeersRing(long address, int key) {}

  DeviceContext context() {
    return device.context();
  }

  RequestLines lines() {
    return memory.lines();
  }

  /** Returns the present weights by one volatile read. */
  public PlaneWeights weights() {
    return carrierWeights.current();
  }

  /**
   * Returns the longest write that is fast on all planes: the device's preference at the smallest
   * path MTU.
   */
  int preferredChunkBytes() {
    return context().preferredWriteBytes(pairs.smallestMtu());
  }
}
