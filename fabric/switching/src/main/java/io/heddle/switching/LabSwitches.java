package io.heddle.switching;

import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The switches of a lab, switching, with the thread that looks after them. Closing ends the thread
 * and leaves the switches as they are: SprayLink goes on with the loads that it last had.
 */
public final class LabSwitches implements AutoCloseable {
  private final SwitchWatch watch;

  private LabSwitches(SwitchWatch watch) {
    this.watch = watch;
  }

  /** Why there is no BPF program here, with the remedy; nftables serve then. */
  public static Optional<String> programRefusal() {
    return BpfForwarding.refusal();
  }

  /**
   * Makes the switches switch, and looks after them. Their {@link LabSwitch#routes} are there.
   *
   * @param program whether by the BPF program; by nftables otherwise
   * @param runner for {@code ip} and {@code nft}
   * @param log hears of each look that fails
   * @throws RuntimeException where the system refuses; no switch chooses then
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

  /** Chooses in another way from now on. */
  public void configure(SwitchingMode mode, SprayScope scope) {
    watch.configure(mode, scope);
  }

  /**
   * Has a switch switch what comes in by another port, too.
   *
   * @param name of the switch in its lab
   * @throws IllegalArgumentException where there is no such switch
   */
  public void addPort(String name, String port) {
    watch.addPort(name, port);
  }

  /**
   * What each equal link of each switch has sent.
   *
   * @throws io.heddle.platform.HeddleException where nobody looks after the switches any more
   */
  public List<LinkCount> counts() {
    return watch.counts();
  }

  /** The same of switches that another process looks after. */
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

  /** Waits until nobody looks after the switches any more, since every look fails. */
  public void awaitLoss() throws InterruptedException {
    watch.awaitLoss();
  }

  /** Takes the program or the rules from all switches; for nothing more than to close it. */
  public void remove() {
    watch.remove();
  }

  /** Ends the thread. */
  @Override
  public void close() {
    watch.close();
  }
}
