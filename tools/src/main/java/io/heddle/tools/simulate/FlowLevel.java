package io.heddle.tools.simulate;

import io.heddle.sim.chunks.ChunkSetting;
import io.heddle.sim.chunks.Switching;
import io.heddle.sim.flows.FairRates;
import io.heddle.sim.flows.LevelOneShares;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.patterns.Traffic;
import io.heddle.spray.PlaneWeights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Simulation of a long run by flows with constant rates. A temporary failure divides the run into
 * epochs: before, during and after the failure.
 */
final class FlowLevel {
  private static final double US = 1e3;
  private static final double GBPS = 8;

  private final ChunkSetting setting;
  private final ClosFabric fabric;
  private final Traffic traffic;
  private final BadPlanesOptions badPlanes;
  private final LinkQueues links;
  private final LevelOneShares healthyShares;
  private final LevelOneShares degradedShares;
  private final BitSet senders = new BitSet();
  private final BitSet receivers = new BitSet();

  FlowLevel(ChunkSetting setting, BadPlanesOptions badPlanes) {
    this.setting = setting;
    this.fabric = setting.fabric();
    this.traffic = setting.traffic();
    this.badPlanes = badPlanes;
    links = badPlanes.links(fabric, setting.seed());
    double[] whole = new double[fabric.planes()];
    Arrays.fill(whole, 1);
    healthyShares = new LevelOneShares(setting, PlaneWeights.equal(fabric.planes()), whole);
    degradedShares =
        badPlanes.isDegraded()
            ? new LevelOneShares(
                setting, badPlanes.announcedWeights(fabric), badPlanes.remainingShares(fabric))
            : healthyShares;
    for (int each = 0; each < traffic.connections(); each++) {
      senders.set(traffic.source()[each]);
      receivers.set(traffic.destination()[each]);
    }
  }

  FlowReport.FlowRun run() {
    double[] leftBytes = new double[traffic.connections()];
    Arrays.fill(leftBytes, (double) traffic.messages() * traffic.messageBytes());
    PlaneFault fault = badPlanes.fault();
    double[] ends =
        fault == null
            ? new double[] {Double.POSITIVE_INFINITY}
            : new double[] {
              fault.startUs() * US,
              (fault.startUs() + (double) fault.lengthUs()) * US,
              Double.POSITIVE_INFINITY
            };
    List<FlowReport.Epoch> epochs = new ArrayList<>();
    double fromNs = 0;
    double endNs = 0;
    for (int i = 0; i < ends.length; i++) {
      if (ends[i] <= fromNs) {
        continue;
      }
      FairRates rates = rates(fromNs, i == 1 && fault != null ? fault.plane() : -1);
      double throughNs = 0;
      boolean isAnyLeft = false;
      for (int each = 0; each < leftBytes.length; each++) {
        double neededNs = leftBytes[each] / rates.bytesPerNs(each);
        throughNs = Math.max(throughNs, neededNs);
        leftBytes[each] -= rates.bytesPerNs(each) * Math.min(ends[i] - fromNs, neededNs);
        isAnyLeft |= fromNs + neededNs > ends[i];
      }
      double toNs = Math.min(ends[i], fromNs + throughNs);
      epochs.add(epoch(rates, fromNs, toNs));
      endNs = toNs;
      fromNs = ends[i];
      if (!isAnyLeft) {
        break;
      }
    }
    return new FlowReport.FlowRun(setting.policy(), endNs / US, epochs);
  }

  private FairRates rates(double atNs, int downPlane) {
    return FairRates.of(
        fabric,
        traffic,
        links,
        atNs,
        connection -> {
          boolean isAffected = badPlanes.isAffected(fabric, traffic, connection);
          LevelOneShares shares = isAffected ? degradedShares : healthyShares;
          return isAffected && downPlane >= 0
              ? shares.without(connection, downPlane)
              : shares.of(connection);
        },
        setting.switching() == Switching.SPRAY,
        setting.seed());
  }

  private FlowReport.Epoch epoch(FairRates rates, double fromNs, double toNs) {
    double sending = 0;
    double receiving = 0;
    for (int plane = 0; plane < fabric.planes(); plane++) {
      for (int gpu = 0; gpu < fabric.gpus(); gpu++) {
        sending += senders.get(gpu) ? links.bytesPerNs(fabric.up(plane, gpu), fromNs) : 0;
        receiving += receivers.get(gpu) ? links.bytesPerNs(fabric.down(plane, gpu), fromNs) : 0;
      }
    }
    return new FlowReport.Epoch(
        fromNs / US,
        toNs / US,
        rates.total() * GBPS / senders.cardinality(),
        rates.slowest() * GBPS,
        rates.fastest() * GBPS,
        rates.total() / Math.min(sending, receiving),
        rates.classes());
  }
}
