package io.heddle.bgp.flowspec.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.FamilyRoutes;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.testing.EndsWithin;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of a controller's BGP speaker and a gateway's, connected by TCP on the loopback. */
@EndsWithin(60)
class RuleSessionTest {
  private static final FlowRule RULE = Rules.queuePair("fd00:2::2", 0x11);
  private static final RuleAnnouncer.Target LIST_2 =
      new RuleAnnouncer.Target(2, SteeredGateway.ROUTER_ID);

  private final SteeredGateway gateway = new SteeredGateway(RuleGrace.DEFAULT);
  private final List<String> log = new ArrayList<>();
  private final BgpSpeaker controller = new BgpSpeaker((level, sentence) -> log.add(sentence));
  private final RuleAnnouncer announcer = new RuleAnnouncer(Rules.CODEC, SteeredGateway.STEERING);
  private PeerSession session;

  @AfterEach
  void closeAll() {
    controller.close();
    gateway.close();
  }

  private void connect() {
    connect(0);
  }

  private void connect(int restartSeconds) {
    int port = gateway.speaker.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
    gateway.connect(options(179, 65002, 65001).passive(true).build());
    session =
        controller.add(
            options(port, 65001, 65002).restartSeconds(restartSeconds).build(), announcer);
    controller.onRefreshRequest(announcer::refreshRequested);
    controller.execute(session::start);
    gateway.await("the session", () -> gateway.isEstablished());
  }

  private static PeerOptions.Builder options(int port, long ours, long theirs) {
    return PeerOptions.builder("peer")
        .remote(Prefix.of("::1").address())
        .port(port)
        .localAs(ours)
        .remoteAs(theirs)
        .routerId((int) ours)
        .families(Families.of(List.of(Rules.CODEC)))
        .retryMs(20, 100);
  }

  @Test
  void ruleIsAnnouncedChangedAndWithdrawn() {
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    connect();
    gateway.awaitList(2);
    controller.execute(
        () -> announcer.announce(RULE, new RuleAnnouncer.Target(3, SteeredGateway.ROUTER_ID)));
    gateway.awaitList(3);
    controller.execute(() -> announcer.withdraw(RULE));
    gateway.awaitList(0);
    assertEquals(List.of(), gateway.warnings());
  }

  @Test
  void rulesOfAnUnsupportedFamilyAreCounted() {
    List<FlowspecCodec> both = List.of(Rules.CODEC, Rules.IPV4_CODEC);
    RuleAnnouncer ofBoth = new RuleAnnouncer(both, SteeredGateway.STEERING);
    int port = gateway.speaker.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
    gateway.connect(options(179, 65002, 65001).passive(true).build());
    session =
        controller.add(options(port, 65001, 65002).families(Families.of(both)).build(), ofBoth);
    controller.execute(() -> ofBoth.announce(Rules.queuePair("10.2.0.2", 0x11), LIST_2));
    assertEquals(
        0,
        (int) controller.callOnLoop(() -> ofBoth.unsupportedRules(session)),
        "it has no session yet");
    controller.execute(session::start);
    controller.execute(() -> ofBoth.announce(RULE, LIST_2));
    gateway.awaitList(2);
    assertEquals(1, (int) controller.callOnLoop(() -> ofBoth.unsupportedRules(session)));
    assertEquals(1, gateway.rules());
  }

  @Test
  void tenThousandRulesFitIntoFewMessages() {
    for (int i = 0; i < 10_000; i++) {
      FlowRule rule = Rules.queuePair("fd00:2::2", i);
      controller.execute(() -> announcer.announce(rule, LIST_2));
    }
    connect();
    gateway.await("all rules", () -> gateway.rules() == 10_000);
    assertTrue(
        gateway.speaker.callOnLoop(() -> gateway.session.status().counters().updates()) < 200,
        "50 rules and more in a message");
  }

  @Test
  void rulesEndWithTheirSession() {
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    connect();
    gateway.awaitList(2);
    controller.execute(() -> session.stop("enough"));
    gateway.awaitList(0);
  }

  @Test
  void rulesOutliveTheirSessionByTheGraceWithGracefulRestart() {
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    connect(120);
    gateway.awaitList(2);
    controller.execute(() -> session.stop("be right back"));
    gateway.await("the end", () -> !gateway.isEstablished());
    assertEquals(2, gateway.list());
    assertEquals(RuleGrace.DEFAULT.withRestartNs(), gateway.speaker.callOnLoop(gateway::runLater));
    assertEquals(0, gateway.list());
  }

  @Test
  void refreshSendsTheRulesAgain() {
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    connect();
    gateway.awaitList(2);
    gateway.speaker.callOnLoop(() -> gateway.table.dropAll("controller"));
    gateway.awaitList(0);
    assertTrue(
        gateway.speaker.callOnLoop(() -> gateway.session.requestRefresh(Rules.CODEC.family())));
    gateway.awaitList(2);
  }

  @Test
  void refusedRuleIsLoggedOnceAndTheSessionStays() {
    connect();
    for (int i = 0; i < 3; i++) {
      FlowRule elsewhere = Rules.queuePair("fd99::1", i);
      controller.execute(() -> announcer.announce(elsewhere, LIST_2));
    }
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    gateway.awaitList(2);
    assertEquals(1, gateway.warnings().size(), gateway.warnings().toString());
    assertTrue(gateway.warnings().getFirst().contains("isn't the peer's to steer"));
    assertEquals(1, gateway.rules());
  }

  @Test
  void malformedRuleIsWithdrawnAndTheSessionStays() {
    connect();
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    gateway.awaitList(2);
    FlowRule unknown =
        FlowRule.malformed(false, Rules.bytes("0180 00 fd000002000000000000000000000002 fe81 11"));
    PathAttributes attributes =
        SteeredGateway.STEERING.write(2, SteeredGateway.ROUTER_ID, 65001, true);
    controller.execute(() ->
        session.send(
            UpdateMessage.of(
                FamilyRoutes.announce(Rules.CODEC, List.of(unknown), null), attributes)));
    gateway.await(
        "the malformed one",
        () -> gateway.speaker.callOnLoop(() -> gateway.session.status().counters().ignored()) == 1);
    assertEquals(2, gateway.list());
    assertTrue(gateway.isEstablished());
  }

  @Test
  void ruleOfTwoGatewaysIsRefusedByTheAnnouncer() {
    announcer.announce(RULE, LIST_2);
    assertThrows(
        IllegalArgumentException.class,
        () -> announcer.announce(RULE, new RuleAnnouncer.Target(2, 7)));
    assertNull(gateway.table.winner(SteeredGateway.FLOW));
  }

  @Test
  void rulesOfALostSessionStayForExactlyTheGrace() {
    SteeredGateway patient = new SteeredGateway(new RuleGrace(60, 0));
    try {
      patient.put(RULE, 2);
      patient.receiver.lost(true, "gone");
      assertEquals(2, patient.list());
      assertEquals(60, patient.runLater());
      assertEquals(0, patient.list());
      patient.put(RULE, 2);
      patient.receiver.lost(false, "gone");
      assertEquals(0, patient.list(), "without graceful restart: at once");
    } finally {
      patient.close();
    }
  }

  @Test
  void eachLossStartsItsOwnGrace() {
    SteeredGateway patient = new SteeredGateway(new RuleGrace(60, 60));
    try {
      patient.put(RULE, 2);
      patient.receiver.lost(false, "gone");
      patient.receiver.lost(false, "gone again");
      patient.runLater();
      assertEquals(2, patient.list(), "the first loss's time is over");
      patient.runLater();
      assertEquals(0, patient.list());
    } finally {
      patient.close();
    }
  }
}
