package io.heddle.sim.chunks;

import io.heddle.sim.calendar.EventCalendar;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.patterns.Traffic;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.DoubleConsumer;

/**
 * Simulation of all chunks of all connections in virtual time, from the policy's selection of a
 * plane to the acknowledgement. The same setting always gives the same outcome.
 */
public final class ChunkSimulation {
  private static final int PLOTTED = 200;
  private static final int EVENTS_PER_REPORT = 1 << 16;
  private static final double HALF = 0.5;
  private static final double NINETY_NINE = 0.99;

  private final ChunkSetting setting;
  private final ClosFabric fabric;
  private final Traffic traffic;
  private final LinkQueues links;
  private final ChunkTable chunks = new ChunkTable();
  private final EventCalendar calendar = new EventCalendar(chunks.size());
  private final ChunkPaths paths;
  private final Senders senders;
  private final int[] successors;
  private final Durations times = new Durations();
  private final GoodputSeries series = new GoodputSeries();
  private final long[] planeBytes;
  private final long[] connectionBytes;
  private long deliveredBytes;
  private long endNs;
  private long events;

  /**
   * @param links links of the setting's fabric with their impairments, over which nothing was sent
   *     yet
   */
  public ChunkSimulation(ChunkSetting setting, LinkQueues links) {
    this.setting = setting;
    this.fabric = setting.fabric();
    this.traffic = setting.traffic();
    this.links = links;
    paths = new ChunkPaths(setting, links, calendar, chunks);
    senders = new Senders(setting, chunks, paths);
    successors = traffic.successors();
    planeBytes = new long[fabric.planes()];
    connectionBytes = new long[Math.multiplyExact(traffic.connections(), fabric.planes())];
  }

  /**
   * Runs until every message is acknowledged. May be called once.
   *
   * @param progress receives the fraction of bytes that are acknowledged, from time to time
   * @throws IllegalStateException if no event is left although messages aren't acknowledged
   */
  public ChunkOutcome run(DoubleConsumer progress) {
    double all = (double) traffic.connections() * traffic.messages() * traffic.messageBytes();
    for (int connection = 0; connection < senders.connections(); connection++) {
      senders.post(connection, 0);
    }
    while (senders.completedConnections() < senders.connections()) {
      int slot = calendar.next();
      if (slot == EventCalendar.NOTHING) {
        throw new IllegalStateException(
            "deadlock: %s of %s connections are complete, and no event is left"
                .formatted(senders.completedConnections(), senders.connections()));
      }
      events++;
      handleEvent(slot, calendar.nowNs());
      if (events % EVENTS_PER_REPORT == 0) {
        progress.accept(deliveredBytes / all);
      }
    }
    return outcome();
  }

  private void handleEvent(int slot, long nowNs) {
    switch (chunks.hop[slot]) {
      case ChunkTable.ACKNOWLEDGED -> acknowledged(slot, nowNs);
      case ChunkTable.DELIVERED -> {
        int next = successors[chunks.connection[slot]];
        boolean isTurn = senders.arrived(slot);
        paths.acknowledge(slot, nowNs);
        if (isTurn && next != Traffic.NONE) {
          senders.post(next, nowNs);
        }
      }
      case ChunkTable.TIMED_OUT -> {
        int connection = chunks.connection[slot];
        if (senders.timedOut(slot, nowNs)) {
          paths.scheduleTrial(slot, nowNs);
        }
        senders.post(connection, nowNs);
      }
      case ChunkTable.TRIAL -> {
        int connection = chunks.connection[slot];
        int plane = chunks.plane[slot];
        if (paths.isUp(connection, plane, nowNs)) {
          senders.restored(connection, plane);
          senders.post(connection, nowNs);
        } else {
          paths.scheduleTrial(slot, nowNs);
        }
        chunks.release(slot);
      }
      default -> paths.advance(slot, nowNs);
    }
  }

  private void acknowledged(int slot, long nowNs) {
    int connection = chunks.connection[slot];
    int bytes = chunks.lengthBytes[slot];
    int plane = chunks.plane[slot];
    planeBytes[plane] += bytes;
    connectionBytes[connection * fabric.planes() + plane] += bytes;
    deliveredBytes += bytes;
    series.add(nowNs, bytes);
    endNs = nowNs;
    long tookNs = senders.acknowledged(slot, nowNs);
    if (tookNs >= 0) {
      times.add(tookNs);
    }
    senders.post(connection, nowNs);
  }

  /** Returns the share of each plane in a connection's acknowledged bytes so far. */
  public double[] planeShares(int connection) {
    double[] shares = new double[fabric.planes()];
    double all = 0;
    for (int plane = 0; plane < shares.length; plane++) {
      shares[plane] = connectionBytes[connection * shares.length + plane];
      all += shares[plane];
    }
    for (int plane = 0; plane < shares.length && all > 0; plane++) {
      shares[plane] /= all;
    }
    return shares;
  }

  private ChunkOutcome outcome() {
    List<Long> plotted = new ArrayList<>();
    for (int i = 0; i < PLOTTED; i++) {
      plotted.add(times.quantileNs((i + HALF) / PLOTTED));
    }
    List<Double> shares = new ArrayList<>();
    for (long bytes : planeBytes) {
      shares.add((double) bytes / deliveredBytes);
    }
    return new ChunkOutcome(
        setting.policy(),
        endNs,
        deliveredBytes,
        deliveredBytes / idealBytes(),
        times.count(),
        times.quantileNs(HALF),
        times.quantileNs(NINETY_NINE),
        times.quantileNs(1),
        plotted,
        shares,
        LinkHeat.of(fabric, links, endNs),
        series.stepNs(),
        series.bitsPerSecond(endNs),
        paths.sent(),
        paths.lost(),
        events);
  }

  /*
   * Returns the bytes that the senders' ports could have carried by now, or the receivers' ports if
   * these could carry less.
   */
  private double idealBytes() {
    BitSet sources = new BitSet();
    BitSet destinations = new BitSet();
    for (int connection = 0; connection < traffic.connections(); connection++) {
      sources.set(traffic.source()[connection]);
      destinations.set(traffic.destination()[connection]);
    }
    double sending = 0;
    double receiving = 0;
    for (int plane = 0; plane < fabric.planes(); plane++) {
      for (int gpu = 0; gpu < fabric.gpus(); gpu++) {
        if (sources.get(gpu)) {
          sending += links.capacityBytes(fabric.up(plane, gpu), endNs);
        }
        if (destinations.get(gpu)) {
          receiving += links.capacityBytes(fabric.down(plane, gpu), endNs);
        }
      }
    }
    return Math.min(sending, receiving);
  }
}
