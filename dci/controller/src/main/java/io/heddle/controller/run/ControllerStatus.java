package io.heddle.controller.run;

import io.heddle.controller.solver.PolicyVerdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers of the controller on its control socket. */
public final class ControllerStatus {
  private ControllerStatus() {}

  /**
   * State of the controller.
   *
   * @param time time of the answer, ISO 8601
   * @param targets telemetry sources
   * @param peers BGP peers that receive rules
   * @param policies state of each policy, with the reason
   * @param gaps policies about which nothing can be decided, with the reason
   * @param lists load of each list
   * @param rules rules that the controller wants in force
   * @param decisions the last twenty decisions, newest first
   * @param work amount of work since the controller's start
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
   * Amount of the controller's work.
   *
   * @param rounds number of rounds
   * @param slowRoundMs duration of a slow round: 99th percentile over the last 256 rounds
   * @param records number of reported elephants, each counted once per report
   */
  public record Work(long rounds, double slowRoundMs, long records) {}

  /**
   * Telemetry source.
   *
   * @param name name in the configuration
   * @param reports whether reports arrive
   * @param reason reason why no reports arrive; null if they do
   * @param elephants number of elephants in the last report
   */
  public record TargetRow(String name, boolean reports, @Nullable String reason, int elephants) {}

  /**
   * BGP peer that receives rules.
   *
   * @param name name in the configuration
   * @param address address of the peer
   * @param state state of the BGP session, as in RFC 4271
   * @param unannouncedRules number of rules not announced to the peer, since it doesn't support
   *     their address family
   */
  public record PeerRow(String name, String address, String state, int unannouncedRules) {}

  /**
   * State of a policy.
   *
   * @param policy name of the policy, prefixed with its gateway's name
   * @param state state after the last round
   * @param sentence reason for the state
   */
  public record PolicyRow(String policy, PolicyVerdict.State state, String sentence) {}

  /**
   * Load of a list.
   *
   * @param policy name of the policy, prefixed with its gateway's name
   * @param list id of the list at its gateway
   * @param utilisation utilisation of the list's busiest link; 1 is full, more is overload
   */
  public record ListRow(String policy, int list, double utilisation) {}

  /**
   * Rule that the controller wants in force.
   *
   * @param gateway name of the flow's gateway
   * @param source address of the sender
   * @param destination address of the receiver
   * @param queuePair number of the receiver's queue pair
   * @param policy name of the policy, prefixed with its gateway's name
   * @param list id of the list that the rule sends the flow to
   * @param since time of the decision, ISO 8601
   * @param sentence reason for the rule
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
   * Decision of the controller.
   *
   * @param time time of the decision, ISO 8601
   * @param action {@code move}, {@code withdraw} or {@code adopt}
   * @param policy name of the policy, prefixed with its gateway's name
   * @param sentence reason for the decision
   */
  public record DecisionRow(String time, String action, String policy, String sentence) {}

  /**
   * Comparison of the gateways' rules with the wanted ones.
   *
   * @param time time of the answer, ISO 8601
   * @param faults number of rows that are faults
   * @param rows one row for each rule that a gateway has or should have
   */
  public record AuditReport(String time, int faults, List<AuditRow> rows) {}

  /** Result of comparing a gateway's rule with the controller's reason for it. */
  public enum Fit {
    /** The rule is in force at the gateway, and the controller has a reason for it. */
    IN_FORCE,
    /**
     * The rule was announced or withdrawn just now, and the gateway may not have reported since.
     */
    PENDING,
    /**
     * The gateway has the rule from this controller, but the controller knows no reason for it: a
     * fault.
     */
    ORPHAN,
    /** The rule is wanted, but not in force at the gateway: a fault. */
    NOT_IN_FORCE,
    /** The gateway doesn't report its rules: a fault. */
    UNKNOWN,
    /** The rule was set by an operator or another controller. */
    FOREIGN;

    boolean isFault() {
      return this == ORPHAN || this == NOT_IN_FORCE || this == UNKNOWN;
    }
  }

  /**
   * Result for one rule.
   *
   * @param gateway name of the gateway that has the rule, or should have it
   * @param destination address of the receiver
   * @param queuePair number of the receiver's queue pair
   * @param source address of the sender; null for any
   * @param list id of the list that the gateway reports for the rule; without a report, the wanted
   *     list
   * @param fit result of the comparison
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
