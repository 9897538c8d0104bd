package io.heddle.cli.doctor;

import io.heddle.addr.NetworkLink;
import io.heddle.platform.NcclNumber;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Check for NCCL variables that conflict with each other, with this host or with Heddle. */
final class SettingsCheck implements Check {
  private static final Cause SOCKET =
      new Cause("socket-interface", "NCCL_SOCKET_IFNAME names no interface that is up here");
  private static final Cause MALFORMED =
      new Cause("setting-malformed", "an NCCL variable that must be a number isn't one");

  /**
   * Rule for a variable that does harm with some values.
   *
   * @param isHarmful whether a value of the variable does harm
   */
  private record Rule(Cause cause, String variable, Predicate<Long> isHarmful, String remedy) {}

  private static final List<Rule> RULES =
      List.of(
          new Rule(
              new Cause(
                  "queue-pairs-folklore",
                  "several queue pairs per connection, which ECMP hashing needs but planes don't:"
                      + " each plane has its own address"),
              "NCCL_IB_QPS_PER_CONNECTION",
              value -> value > 1,
              "unset it; planes spread the load without hashing"),
          new Rule(
              new Cause(
                  "hang-long",
                  "a timeout so long that a dead peer is detected only after a minute or more"),
              "NCCL_IB_TIMEOUT",
              value -> value > 20,
              "unset it, or use 14 to 20: 4 us times two to this power, eight times over"),
          new Rule(
              new Cause("timeout-short", "a timeout so short that congestion counts as failure"),
              "NCCL_IB_TIMEOUT",
              value -> value < 12,
              "unset it, or use 14 to 20"),
          new Rule(
              new Cause("retries-few", "so few retries that a short pause counts as failure"),
              "NCCL_IB_RETRY_CNT",
              value -> value < 5,
              "unset it"),
          new Rule(
              new Cause(
                  "cross-nic-off",
                  "NCCL_CROSS_NIC=0 pairs ports by number, which is wrong on cards with two ports"),
              "NCCL_CROSS_NIC",
              value -> value == 0,
              "unset it: a device of Heddle's reaches all planes"),
          new Rule(
              new Cause(
                  "nics-merged",
                  "NCCL is set to merge ports, its own failover; Heddle's planes do that inside a"
                      + " device"),
              "NCCL_IB_MERGE_NICS",
              value -> value == 1,
              "unset it; planes of one device fail over by themselves"),
          new Rule(
              new Cause(
                  "adaptive-routing",
                  "adaptive routing is on; writes with immediate are slow under it on some"
                      + " cards"),
              "NCCL_IB_ADAPTIVE_ROUTING",
              value -> value == 1,
              "unset it if planes are balanced by weight"),
          new Rule(
              new Cause(
                  "ece", "enhanced connection establishment is on; it is known to be unstable"),
              "NCCL_IB_ECE_ENABLE",
              value -> value == 1,
              "unset it, or set 0 for NCCL's own transport; Heddle never uses it"),
          new Rule(
              new Cause(
                  "small-steps",
                  "steps so small that the cost per step, not the network, is the limit"),
              "NCCL_P2P_NET_CHUNKSIZE",
              value -> value <= 131_072,
              "unset it, or use 524288 or more"),
          new Rule(
              new Cause("small-buffers", "buffers so small that steps are small too"),
              "NCCL_BUFFSIZE",
              value -> value < 1_048_576,
              "unset it, or use 4194304 or more"),
          new Rule(
              new Cause(
                  "direct-off", "NCCL_SHM_DISABLE=1 sends even local traffic through the network"),
              "NCCL_SHM_DISABLE",
              value -> value == 1,
              "unset it after the experiment"));

  @Override
  public String name() {
    return "settings";
  }

  @Override
  public String summary() {
    return "NCCL variables in this environment that conflict with each other, with this host or"
        + " with Heddle. Run the doctor in the job's environment (srun, mpirun) to check the"
        + " job's.";
  }

  @Override
  public List<Cause> causes() {
    List<Cause> causes = new ArrayList<>(List.of(SOCKET, MALFORMED));
    RULES.forEach(rule -> causes.add(rule.cause));
    return causes;
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    socketInterface(host, findings);
    for (Rule rule : RULES) {
      String text = host.setting(rule.variable);
      if (text.isEmpty()) {
        continue;
      }
      if (!NcclNumber.isWhole(text) || !NcclNumber.fits(text)) {
        String instead =
            NcclNumber.fits(text) ? Long.toString(NcclNumber.parse(text, 0)) : "its default";
        Finding malformed =
            new Finding.Warning(
                MALFORMED,
                rule.variable
                    + "="
                    + text
                    + " is no whole number to NCCL, which uses "
                    + instead
                    + " instead",
                "correct it, or unset it");
        if (!findings.contains(malformed)) {
          findings.add(malformed);
        }
      } else if (rule.isHarmful.test(NcclNumber.parse(text, 0))) {
        findings.add(new Finding.Warning(rule.cause, rule.variable + "=" + text, rule.remedy));
      }
    }
    if (findings.isEmpty()) {
      findings.add(new Finding.Ok("no setting in this environment conflicts"));
    }
    return findings;
  }

  /* Checks whether NCCL_SOCKET_IFNAME matches an interface. NCCL's syntax is [^][=]name,… */
  private static void socketInterface(Host host, List<Finding> findings) {
    String text = host.setting("NCCL_SOCKET_IFNAME");
    if (text.isEmpty()) {
      return;
    }
    boolean excludes = text.startsWith("^");
    String rest = excludes ? text.substring(1) : text;
    boolean exact = rest.startsWith("=");
    List<String> names = List.of((exact ? rest.substring(1) : rest).split(","));
    List<String> up = new ArrayList<>();
    List<String> taken = new ArrayList<>();
    for (NetworkLink link : host.addresses().links()) {
      boolean hasAddress =
          host.addresses().addresses().stream()
              .anyMatch(address -> address.interfaceIndex() == link.index());
      if (!link.administrativelyUp() || !hasAddress) {
        continue;
      }
      up.add(link.name());
      boolean named =
          names.stream()
              .anyMatch(name -> exact ? link.name().equals(name) : link.name().startsWith(name));
      if (named != excludes) {
        taken.add(link.name());
      }
    }
    findings.add(
        taken.isEmpty()
            ? new Finding.Fault(
                SOCKET,
                "NCCL_SOCKET_IFNAME=" + text + " matches none of " + up,
                "unset it, or name an interface that is up and has an address")
            : new Finding.Ok("NCCL_SOCKET_IFNAME=" + text + " matches " + taken));
  }
}
