package io.heddle.switching;

import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The running switches of a lab, with the thread that watches them. Closing ends the thread and
 * leaves the switches as they are: SprayLink continues with its last loads.
 */
public final class LabSwitches implements AutoCloseable {
  private final SwitchWatch watch;

  private LabSwitches(SwitchWatch watch) {
    this.watch = watch;
  }

  /** Returns why the BPF program can't be used here, with the remedy; nftables are used then. */
  public static Optional<String> programRefusal() {
    return BpfForwarding.refusal();
  }

  /**
   * Starts the switches and their watch. Their {@link LabSwitch#routes} must be installed.
   *
   * @param program whether to use the BPF program; nftables otherwise
   * @param runner for {@code ip} and {@code nft}
   * @param log receives each failed poll
   * @throws RuntimeException if the system refuses a step; all switches are then as before
   */
  public static LabSwitches start(
      List<LabSwitch> switches,
      SwitchingMode mode,
      SprayScope scope,
      boolean program,
      CommandRunner runner,
      Log log) {
    List<SwitchForwarding> forwardings = new ArrayList<>();
    try {
      for (LabSwitch each : switches) {
        if (program) {
          BpfForwarding forwarding = BpfForwarding.load(each);
          forwardings.add(forwarding);
          forwarding.configure(mode, scope);
          forwarding.attach();
        } else {
          NftForwarding forwarding = new NftForwarding(each, runner);
          forwardings.add(forwarding);
          forwarding.install();
          forwarding.configure(mode, scope);
        }
      }
      SwitchWatch watch = new SwitchWatch(switches, forwardings, mode, runner, log);
      watch.start();
      return new LabSwitches(watch);
    } catch (RuntimeException failed) {
      undo(forwardings, failed);
      throw failed;
    }
  }

  private static void undo(List<SwitchForwarding> forwardings, RuntimeException why) {
    for (SwitchForwarding each : forwardings) {
      try (each) {
        each.remove();
      } catch (RuntimeException stays) {
        why.addSuppressed(stays);
      }
    }
  }

  private static SwitchForwarding find(LabSwitch own, boolean program, CommandRunner runner) {
    return program
        ? BpfForwarding.find(own)
            .orElseThrow(() ->
                new io.heddle.platform.HeddleException(
                    "the switch " + own.name() + " has lost its program; take the lab down"))
        : new NftForwarding(own, runner);
  }

  /** Changes the switching mode. */
  public void configure(SwitchingMode mode, SprayScope scope) {
    watch.configure(mode, scope);
  }

  /**
   * Adds an ingress port to a switch.
   *
   * @param name of the switch in its lab
   * @throws IllegalArgumentException if there is no such switch
   */
  public void addPort(String name, String port) {
    watch.addPort(name, port);
  }

  /**
   * Returns the counts of each equal link of each switch.
   *
   * @throws io.heddle.platform.HeddleException if the watch has failed
   */
  public List<LinkCount> counts() {
    return watch.counts();
  }

  /** Returns the same for switches that another process watches. */
  public static List<LinkCount> counts(
      List<LabSwitch> switches, boolean program, CommandRunner runner) {
    List<LinkCount> counts = new ArrayList<>();
    for (LabSwitch each : switches) {
      try (SwitchForwarding found = find(each, program, runner)) {
        counts.addAll(found.counts());
      }
    }
    return counts;
  }

  /** Waits until the watch has failed, since every poll fails. */
  public void awaitFailure() throws InterruptedException {
    watch.awaitFailure();
  }

  /** Removes the program or the rules from all switches. Only close may follow. */
  public void remove() {
    watch.remove();
  }

  /** Ends the thread. */
  @Override
  public void close() {
    watch.close();
  }
}
