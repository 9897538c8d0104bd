package io.heddle.tools.soak;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;

/** Network of two hosts whose planes are direct links. */
final class ChaosLinks implements ChaosNetwork {
  private final Lab lab;
  private final PlaneFaults faults;

  ChaosLinks(Lab.Kind kind, ChaosSetting setting) {
    lab = Labs.create(kind, new LabPlan(2, setting.planes(), setting.mtuBytes()));
    faults = new PlaneFaults(lab);
  }

  @Override
  public Lab lab() {
    return lab;
  }

  /* Returns at once, since an undone fault leaves nothing to wait for. */
  @Override
  public void settle() {}

  @Override
  public void begin(ChaosEvent event) {
    int rank = event.rank();
    switch (event.fault()) {
      case CARRIER_CUT -> faults.cutCarrier(rank, event.plane());
      case SILENT_CUT -> faults.cutSilently(rank, event.plane());
      case ADDRESS_REMOVED -> faults.removeAddress(rank, event.plane());
      case LOSS -> faults.dropShare(rank, event.plane(), event.amount());
      case NARROWED -> faults.narrow(rank, event.plane(), event.amount());
      case ALL_LINKS_DOWN -> faults.cutAllCarriers(rank);
      case ALL_SILENT -> faults.cutAllSilently(rank);
      case STOPPED_PEER,
          KILLED_PEER,
          CLOCK_STEP,
          SPINE_CUT,
          SPINE_SILENT,
          WEIGHT_CHANGE,
          SESSION_RESET,
          DAEMON_KILLED ->
          throw ChaosNetwork.unsupported(event);
    }
  }

  @Override
  public void undo(ChaosEvent event) {
    switch (event.fault()) {
      case CARRIER_CUT, SILENT_CUT, ADDRESS_REMOVED, LOSS ->
          faults.restore(event.rank(), event.plane());
      case NARROWED -> faults.widen(event.rank(), event.plane());
      case ALL_LINKS_DOWN, ALL_SILENT -> faults.restoreAll(event.rank());
      /* begin() has rejected all other faults. */
      default -> throw ChaosNetwork.unsupported(event);
    }
  }

  @Override
  public void close() {
    lab.close();
  }
}
