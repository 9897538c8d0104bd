package io.heddle.transport.data;

import io.heddle.spray.PlaneWeights;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.DeviceContext;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.Supplier;

/**
 * What a communicator is handed of its connection: the device, the native memory, the queue pairs
 * and what they are chosen by.
 *
 * @param arena of the connection
 * @param peersRing where a receiver writes its clear-to-send entries
 * @param carrierWeights what to choose carriers by
 * @param maxChunksPerPlane chunks that may be under way on one plane
 * @param peer for the log
 * @param planeKeys for the log
 * @param detachCounters ends the counters, and gives spare ones that nobody reads
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
  /** The ring of clear-to-send entries in the other end's memory. */
  public record PeersRing(long address, int key) {}

  DeviceContext context() {
    return device.context();
  }

  RequestLines lines() {
    return memory.lines();
  }

  /** One volatile read. */
  PlaneWeights weights() {
    return carrierWeights.current();
  }

  /**
   * The longest write that is quick on all planes: the device's preference at the smallest path
   * MTU.
   */
  int preferredChunkBytes() {
    return context().preferredWriteBytes(pairs.smallestMtu());
  }
}
