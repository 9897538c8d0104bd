package io.heddle.controller.run;

import io.heddle.controller.solver.PolicyVerdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a controller answers, as it is printed. */
public final class ControllerStatus {
  private ControllerStatus() {}

  /**
   * @param time ISO 8601
   * @param targets who reports
   * @param peers whom rules are told to
   * @param policies how each is, and why it is left so
   * @param gaps policies that nothing can be decided about, and why
   * @param lists how busy each is
   * @param rules that we want in force
   * @param decisions the last twenty, the newest first
   * @param work what it has done since it began
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
   * @param slowRoundMs what 99 of 100 took at most, of the last 256 rounds
   * @param records elephants that were reported, each as often as it was
   */
  public record Work(long rounds, double slowRoundMs, long records) {}

  /**
   * @param name of the configuration
   * @param reports whether reports come
   * @param reason why not; null where they do
   * @param elephants that it has reported last
   */
  public record TargetRow(String name, boolean reports, @Nullable String reason, int elephants) {}

  /**
   * @param name of the configuration
   * @param address of the peer
   * @param state of the BGP session, by RFC 4271
   * @param untoldRules rules that it doesn't hear, since it doesn't speak their address family
   */
  public record PeerRow(String name, String address, String state, int untoldRules) {}

  /**
   * @param policy with its gateway's name in front
   * @param state in which the last round left it
   * @param sentence why
   */
  public record PolicyRow(String policy, PolicyVerdict.State state, String sentence) {}

  /**
   * @param policy with its gateway's name in front
   * @param list by its gateway's own number
   * @param utilisation of its busiest link, 0 to 1; above 1 where it is offered more
   */
  public record ListRow(String policy, int list, double utilisation) {}

  /**
   * @param gateway whose flow it is
   * @param source address of the sender
   * @param destination address of the queue pair
   * @param queuePair its number
   * @param policy with its gateway's name in front
   * @param list that the rule sends it to
   * @param since ISO 8601
   * @param sentence why
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
   * @param policy with its gateway's name in front
   * @param sentence why
   */
  public record DecisionRow(String time, String action, String policy, String sentence) {}

  /**
   * @param time ISO 8601
   * @param faults rows that aren't as they should be
   * @param rows a rule, a reason, or both
   */
  public record AuditReport(String time, int faults, List<AuditRow> rows) {}

  /** How a rule and a reason fit. */
  public enum Fit {
    /** In force, with a reason. */
    IN_FORCE,
    /** Announced or withdrawn a moment ago; the gateway hasn't reported since. */
    ON_ITS_WAY,
    /** In force by us, and no reason is known: a fault. */
    ORPHAN,
    /** A reason is there, and the gateway doesn't obey: a fault. */
    NOT_IN_FORCE,
    /** The gateway doesn't report: a fault. */
    UNKNOWN,
    /** An operator's, or another controller's. */
    OF_SOMEBODY_ELSE;

    boolean isFault() {
      return this == ORPHAN || this == NOT_IN_FORCE || this == UNKNOWN;
    }
  }

  /**
   * @param gateway that has the rule, or should
   * @param destination address of the queue pair
   * @param queuePair its number
   * @param source null for any
   * @param list where the rule leads, or should
   * @param fit of rule and reason
   * @param sentence why it is there, or what is wrong
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
