package io.heddle.tools.wan.figure;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.session.RuleAnnouncer;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionState;
import io.heddle.bgp.wire.FamilyRoutes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.cli.kit.Cleanup;
import io.heddle.gateway.Gateway;
import io.heddle.gateway.GatewayStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Faults of a controller, injected into a gateway. A BGP speaker in this process, without graceful
 * restart, acts as the controller. Each method of a fault is called repeatedly until it returns a
 * sentence with the observation; it returns null before.
 */
public final class FailureScenario {
  private static final int MAX_AGE_S = 3;
  private static final int LIST = 2;
  private static final int NO_LIST = 9;
  private static final int GOOD = 0x1000;
  private static final int UNUSED = 0xbad;
  private static final int BEHIND = 0x1001;
  private static final int AWAY = 0x1002;
  private static final int FORGOTTEN = 0x1003;
  private static final int FUZZED = 1_000;
  private static final int LONGEST = 60;
  private static final int IN_A_MESSAGE = 40;
  private static final long SEED = 1;

  private final Gateway gateway;
  private final BgpSpeaker speaker;
  private final PeerSession session;
  private final FlowspecCodec codec = new FlowspecCodec(ComponentTypes.DEFAULT);
  private final SteeringAttributes steering = new SteeringAttributes(IndirectionEncoding.DEFAULT);
  private final RuleAnnouncer announcer = new RuleAnnouncer(codec, steering);
  private boolean fuzzed;
  private boolean forgotten;
  private boolean stopped;

  /**
   * Creates gateway and controller.
   *
   * @param folder folder for files
   * @param cleanup removes gateway and controller when it is closed
   */
  public FailureScenario(Path folder, Cleanup cleanup) throws IOException {
    LoneGateway lone =
        cleanup.add(new LoneGateway(folder, "rules-max-age-s = " + MAX_AGE_S + "\n"));
    gateway = lone.gateway();
    speaker = cleanup.add(lone.call(() -> new BgpSpeaker((level, sentence) -> {})));
    session = lone.call(() -> lone.listen(speaker, codec, announcer));
  }

  /*
   * Announces the rule again at each call, so that rules don't expire while a fault is tested.
   * Returns the gateway's view of the rule.
   */
  private GatewayStatus.@Nullable Rule rule(int queuePair, int list) {
    FlowRule rule =
        FlowRule.queuePair(
            ComponentTypes.DEFAULT,
            Prefix.of(LoneGateway.SOURCE),
            Prefix.of(LoneGateway.DESTINATION),
            queuePair);
    speaker.execute(() -> {
      announcer.announce(rule, new RuleAnnouncer.Target(list, LoneGateway.ROUTER_ID));
      announcer.refresh();
    });
    return seen(queuePair);
  }

  private GatewayStatus.@Nullable Rule seen(int queuePair) {
    return gateway.view().rules().rules().stream()
        .filter(each -> each.queuePair() == queuePair)
        .findFirst()
        .orElse(null);
  }

  private boolean isActive(int queuePair) {
    GatewayStatus.Rule rule = rule(queuePair, LIST);
    return rule != null && rule.active();
  }

  private boolean isOneSession() {
    return speaker.callOnLoop(() ->
        session.state() == SessionState.ESTABLISHED
            && session.status().counters().established() == 1);
  }

  /** Announces a rule for a queue pair without traffic. The gateway shows the rule as unused. */
  public @Nullable String wrongQueuePair() {
    GatewayStatus.Rule rule = rule(UNUSED, LIST);
    return rule != null && rule.active() && !rule.used()
        ? "the rule of queue pair %s is shown as unused".formatted(UNUSED)
        : null;
  }

  /**
   * Announces a rule to a segment list that the gateway doesn't have. The gateway keeps the rule
   * inactive.
   */
  public @Nullable String unknownList() {
    GatewayStatus.Rule rule = rule(GOOD, NO_LIST);
    return rule != null && !rule.active() && rule.reason() != null
        ? "the rule to list %s is held inactive: %s".formatted(NO_LIST, rule.reason())
        : null;
  }

  /**
   * Announces random bytes as rules, in fields of valid length, and then a good rule. The session
   * and good rules stay.
   */
  public @Nullable String malformed() {
    if (!fuzzed) {
      if (!isActive(GOOD)) {
        return null;
      }
      fuzzed = true;
      speaker.execute(this::sendFuzzed);
    }
    boolean arrived = isActive(BEHIND);
    return arrived && isActive(GOOD) && isOneSession()
        ? "%s random rules, and the session stays, with the rules before and behind them"
            .formatted(FUZZED)
        : null;
  }

  private void sendFuzzed() {
    Random random = new Random(SEED);
    List<FlowRule> rules = new ArrayList<>();
    for (int i = 0; i < FUZZED; i++) {
      byte[] bytes = new byte[1 + random.nextInt(LONGEST)];
      random.nextBytes(bytes);
      rules.add(FlowRule.malformed(false, bytes));
      if (rules.size() == IN_A_MESSAGE) {
        session.send(
            UpdateMessage.of(
                FamilyRoutes.announce(codec, List.copyOf(rules), null),
                steering.write(LIST, LoneGateway.ROUTER_ID, LoneGateway.AS, false)));
        rules.clear();
      }
    }
  }

  /** Stops refreshing a rule while the session stays up. The rule ends by its age. */
  public @Nullable String stale() {
    if (!forgotten) {
      forgotten = isActive(FORGOTTEN);
      return null;
    }
    return seen(FORGOTTEN) == null && isOneSession()
        ? "it ended after rules-max-age-s = %s, and the session stays".formatted(MAX_AGE_S)
        : null;
  }

  /** Ends the session without graceful restart. The gateway removes all rules at once. */
  public @Nullable String sessionLost() {
    if (!stopped) {
      if (!isActive(AWAY)) {
        return null;
      }
      stopped = true;
      speaker.execute(() -> session.stop("the end of the scene"));
    }
    return gateway.view().rules().rules().isEmpty() ? "no rule is left; the hash decides" : null;
  }
}
