package io.heddle.switching;

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
   * Returns the reason why this machine can't use the BPF program, with the remedy; empty if it
   * can. Nftables can be used instead.
   */
  public static Optional<String> programRefusal() {
    return BpfForwarding.refusal();
  }

  /**
   * Starts the switches and the thread that watches them. The {@link LabSwitch#routes} of each
   * switch must be installed before.
   *
   * @param program whether the BPF program is used; otherwise nftables
   * @param runner runner of {@code ip} and {@code nft}
   * @param log log that receives each failed poll
   * @throws RuntimeException if the system refuses a step; what was installed on the switches is
   *     removed then
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
   * @throws io.heddle.platform.HeddleException if the watch has failed
   */
  public List<LinkCount> counts() {
    return watch.counts();
  }

  /** Returns the counts of switches that another process watches. */
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

  /** Waits until the watch has failed, which happens when its polls fail persistently. */
  public void awaitFailure() throws InterruptedException {
    watch.awaitFailure();
  }

  /**
   * Removes the program or the rules from all switches. Afterwards only {@link #close} may be
   * called.
   */
  public void remove() {
    watch.remove();
  }

  /** Ends the watching thread. */
  @Override
  public void close() {
    watch.close();
  }
}
