package io.heddle.tools.switching;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Running switches of a lab, with the thread that watches them. Closing ends the thread. The
 * switches keep forwarding, and SprayLink continues with its last loads.
 */
public final class LabSwitches implements AutoCloseable {
  private final SwitchWatch watch;

  private LabSwitches(SwitchWatch watch) {
    this.watch = watch;
  }

  /**
   * Returns everything that this build or machine lacks for switches that balance load, with the
   * remedies; empty if they can be started.
   */
  public static Optional<String> refusal() {
    return SwitchProgram.refusal();
  }

  /**
   * Starts the switches and the thread that watches them. The {@link LabSwitch#routes} of each
   * switch must be installed before.
   *
   * @param log log that receives each failed poll
   * @throws RuntimeException if the system refuses a step; what was installed on the switches is
   *     removed then
   */
  public static LabSwitches start(
      List<LabSwitch> switches, SwitchingMode mode, SprayScope scope, Log log) {
    List<SwitchProgram> programs = new ArrayList<>();
    try {
      for (LabSwitch each : switches) {
        SwitchProgram program = SwitchProgram.load(each);
        programs.add(program);
        program.configure(mode, scope);
        program.attach();
      }
      SwitchWatch watch = new SwitchWatch(switches, programs, mode, log);
      watch.start();
      return new LabSwitches(watch);
    } catch (RuntimeException failed) {
      undo(programs, failed);
      throw failed;
    }
  }

  private static void undo(List<SwitchProgram> programs, RuntimeException why) {
    for (SwitchProgram each : programs) {
      try (each) {
        each.remove();
      } catch (RuntimeException stays) {
        why.addSuppressed(stays);
      }
    }
  }

  private static SwitchProgram find(LabSwitch own) {
    return SwitchProgram.find(own)
        .orElseThrow(() ->
            new HeddleException(
                "the switch " + own.name() + " has lost its program; take the lab down"));
  }

  /** Changes the switching mode of all switches. */
  public void configure(SwitchingMode mode, SprayScope scope) {
    watch.configure(mode, scope);
  }

  /**
   * Adds an ingress port to a switch.
   *
   * @param name name of the switch in its lab
   * @throws IllegalArgumentException if there is no such switch
   */
  public void addPort(String name, String port) {
    watch.addPort(name, port);
  }

  /**
   * Returns the counts of each of the equal links of each switch.
   *
   * @throws HeddleException if the watch has failed
   */
  public List<LinkCount> counts() {
    return watch.counts();
  }

  /** Returns the counts of switches that another process watches. */
  public static List<LinkCount> counts(List<LabSwitch> switches) {
    List<LinkCount> counts = new ArrayList<>();
    for (LabSwitch each : switches) {
      try (SwitchProgram found = find(each)) {
        counts.addAll(found.counts());
      }
    }
    return counts;
  }

  /** Waits until the watch has failed, which happens when its polls fail persistently. */
  public void awaitFailure() throws InterruptedException {
    watch.awaitFailure();
  }

  /** Removes the program from all switches. Afterwards only {@link #close} may be called. */
  public void remove() {
    watch.remove();
  }

  /** Ends the watching thread. */
  @Override
  public void close() {
    watch.close();
  }
}
