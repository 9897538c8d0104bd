package io.heddle.sim.chunks;

import io.heddle.sim.calendar.EventCalendar;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.links.SpineHash;
import io.heddle.sim.links.SplitMix;
import io.heddle.sim.patterns.Traffic;

/**
 * Movement of chunks from link to link. The calendar's event number of a chunk is the chunk's slot
 * in the {@link ChunkTable}.
 */
final class ChunkPaths {
  private final ClosFabric fabric;
  private final Traffic traffic;
  private final LinkQueues links;
  private final EventCalendar calendar;
  private final ChunkTable chunks;
  private final int packetBytes;
  private final long timeoutNs;
  private final boolean sprays;
  private final long seed;
  private final boolean isChained;
  private long sprayed;
  private long lost;
  private long sent;

  ChunkPaths(ChunkSetting setting, LinkQueues links, EventCalendar calendar, ChunkTable chunks) {
    this.fabric = setting.fabric();
    this.traffic = setting.traffic();
    this.links = links;
    this.calendar = calendar;
    this.chunks = chunks;
    this.packetBytes = setting.packetBytes();
    this.timeoutNs = setting.timeoutNs();
    this.sprays = setting.switching() == Switching.SPRAY;
    this.seed = setting.seed();
    this.isChained = traffic.isChained();
  }

  /** Returns the number of chunks that failed links dropped. */
  long lost() {
    return lost;
  }

  /** Returns the number of chunks sent, retransmissions included. */
  long sent() {
    return sent;
  }

  /** Sends a chunk from the sender's card. */
  void start(int slot, long nowNs) {
    sent++;
    calendar.grow(chunks.size());
    int spines = fabric.spines();
    int connection = chunks.connection[slot];
    int plane = chunks.plane[slot];
    if (spines > 0) {
      chunks.spine[slot] =
          sprays
              ? (int) Long.remainderUnsigned(SplitMix.of(seed, ++sprayed), spines)
              : SpineHash.spine(seed, connection, plane, spines);
    }
    chunks.hop[slot] = 0;
    chunks.postedNs[slot] = nowNs;
    chunks.tailNs[slot] = nowNs;
    advance(slot, nowNs);
  }

  /**
   * Sends a chunk over the next link of its path. Called when the chunk's first packet has arrived
   * at this link.
   */
  void advance(int slot, long nowNs) {
    int connection = chunks.connection[slot];
    int source = traffic.source()[connection];
    int destination = traffic.destination()[connection];
    int hop = chunks.hop[slot];
    int link = fabric.link(chunks.plane[slot], source, destination, chunks.spine[slot], hop);
    int bytes = chunks.lengthBytes[slot];
    double beginNs = links.beginNs(link, nowNs);
    double endNs = links.enqueue(link, nowNs, bytes);
    if (endNs == LinkQueues.LOST) {
      lost++;
      chunks.hop[slot] = ChunkTable.TIMED_OUT;
      calendar.schedule(Math.max(nowNs, chunks.postedNs[slot] + timeoutNs), slot);
      return;
    }
    double tailNs = Math.max(endNs, chunks.tailNs[slot]) + fabric.hopNs();
    chunks.tailNs[slot] = tailNs;
    int hops = fabric.hops(source, destination);
    if (hop + 1 < hops) {
      double firstPacket = bytes <= packetBytes ? 1 : (double) packetBytes / bytes;
      double headNs = beginNs + (endNs - beginNs) * firstPacket + fabric.hopNs();
      chunks.hop[slot]++;
      calendar.schedule((long) Math.ceil(Math.min(headNs, tailNs)), slot);
    } else if (isChained) {
      chunks.hop[slot] = ChunkTable.DELIVERED;
      calendar.schedule((long) Math.ceil(tailNs), slot);
    } else {
      acknowledge(slot, (long) Math.ceil(tailNs));
    }
  }

  /**
   * Schedules the acknowledgement of a chunk that has arrived completely. The acknowledgement takes
   * the path's latency and waits in no queue.
   */
  void acknowledge(int slot, long nowNs) {
    int connection = chunks.connection[slot];
    int hops = fabric.hops(traffic.source()[connection], traffic.destination()[connection]);
    chunks.hop[slot] = ChunkTable.ACKNOWLEDGED;
    calendar.schedule(nowNs + hops * fabric.hopNs(), slot);
  }

  /**
   * Schedules a trial: a later check whether the plane of the chunk or trial in this slot is up
   * again.
   */
  void scheduleTrial(int slot, long nowNs) {
    int trial = chunks.take();
    calendar.grow(chunks.size());
    chunks.connection[trial] = chunks.connection[slot];
    chunks.plane[trial] = chunks.plane[slot];
    chunks.hop[trial] = ChunkTable.TRIAL;
    calendar.schedule(nowNs + timeoutNs, trial);
  }

  /**
   * Returns whether a plane is up for a connection: whether the sender's link to its leaf and the
   * link from a leaf to the receiver carry traffic now.
   */
  boolean isUp(int connection, int plane, long nowNs) {
    return links.isUp(fabric.up(plane, traffic.source()[connection]), nowNs)
        && links.isUp(fabric.down(plane, traffic.destination()[connection]), nowNs);
  }
}
