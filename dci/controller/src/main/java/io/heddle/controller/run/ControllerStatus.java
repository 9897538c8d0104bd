package io.heddle.controller.run;

import io.heddle.controller.solver.PolicyVerdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The controller's answers on its control socket. */
public final class ControllerStatus {
  private ControllerStatus() {}

  /**
   * @param time ISO 8601
   * @param targets telemetry sources
   * @param peers BGP peers that receive rules
   * @param policies state of each policy, with the reason
   * @param gaps policies that can't be decided, with the reason
   * @param lists load of each list
   * @param rules rules that the controller wants in force
   * @param decisions the last twenty, newest first
   * @param work totals since the start
   */
  public record Overview(
      String time,
      List<TargetRow> targets,
      List<PeerRow> peers,
      List<PolicyRow> policies,
      List<String> gaps,
      List<ListRow> lists,
      List<RuleRow> rules,
      List<DecisionRow> decisions,
      Work work) {}

  /**
   * @param rounds in which it decided
   * @param slowRoundMs 99th percentile over the last 256 rounds
   * @param records reported elephants, each counted once per report
   */
  public record Work(long rounds, double slowRoundMs, long records) {}

  /**
   * @param name from the configuration
   * @param reports whether reports arrive
   * @param reason why not; null if they arrive
   * @param elephants in its last report
   */
  public record TargetRow(String name, boolean reports, @Nullable String reason, int elephants) {}

  /**
   * @param name from the configuration
   * @param address of the peer
   * @param state of the BGP session, by RFC 4271
   * @param unannouncedRules rules not announced to it, since it doesn't support their address
   *     family
   */
  public record PeerRow(String name, String address, String state, int unannouncedRules) {}

  /**
   * @param policy prefixed with its gateway's name
   * @param state after the last round
   * @param sentence reason
   */
  public record PolicyRow(String policy, PolicyVerdict.State state, String sentence) {}

  /**
   * @param policy prefixed with its gateway's name
   * @param list number that its gateway gives it
   * @param utilisation of its busiest link; 1 is full, more is overload
   */
  public record ListRow(String policy, int list, double utilisation) {}

  /**
   * @param gateway of the flow
   * @param source address of the sender
   * @param destination address of the queue pair
   * @param queuePair its number
   * @param policy prefixed with its gateway's name
   * @param list that the rule sends it to
   * @param since ISO 8601
   * @param sentence reason
   */
  public record RuleRow(
      String gateway,
      String source,
      String destination,
      int queuePair,
      String policy,
      int list,
      String since,
      String sentence) {}

  /**
   * @param time ISO 8601
   * @param action {@code move}, {@code withdraw} or {@code adopt}
   * @param policy prefixed with its gateway's name
   * @param sentence reason
   */
  public record DecisionRow(String time, String action, String policy, String sentence) {}

  /**
   * @param time ISO 8601
   * @param faults number of rows that are faults
   * @param rows a rule, a reason, or both
   */
  public record AuditReport(String time, int faults, List<AuditRow> rows) {}

  /** Match between a gateway's rule and our reason for it. */
  public enum Fit {
    /** In force, with a reason. */
    IN_FORCE,
    /** Announced or withdrawn just now; the gateway hasn't reported since. */
    PENDING,
    /** Set by us and in force, but without a known reason: a fault. */
    ORPHAN,
    /** Wanted, but not in force at the gateway: a fault. */
    NOT_IN_FORCE,
    /** The gateway doesn't report: a fault. */
    UNKNOWN,
    /** Set by an operator or another controller. */
    FOREIGN;

    boolean isFault() {
      return this == ORPHAN || this == NOT_IN_FORCE || this == UNKNOWN;
    }
  }

  /**
   * @param gateway that has the rule, or should
   * @param destination address of the queue pair
   * @param queuePair its number
   * @param source null for any
   * @param list target of the rule, actual or wanted
   * @param fit match of rule and reason
   * @param sentence reason for the rule, or the fault
   */
  public record AuditRow(
      String gateway,
      String destination,
      int queuePair,
      @Nullable String source,
      int list,
      Fit fit,
      String sentence) {}
}
