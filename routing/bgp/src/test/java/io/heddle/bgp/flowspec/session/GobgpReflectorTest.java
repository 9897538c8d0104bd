package io.heddle.bgp.flowspec.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.table.RuleEntry;
import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.RecordingListener;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests with GoBGP as the route reflector between a controller and a gateway. The reflector must
 * pass on unknown attributes byte for byte. All three run in one network namespace, on addresses of
 * its loopback interface.
 */
@EndsWithin(120)
@SystemTest
class GobgpReflectorTest {
  private static final Path DAEMON = Path.of("/usr/bin/gobgpd");
  private static final String REFLECTOR = "fd00:1::1";
  private static final String CONTROLLER = "fd00:1::2";
  private static final String GATEWAY = "fd00:1::3";
  private static final String WITNESS = "fd00:1::4";
  private static final int CONTROLLER_ID = 0x0a0000c0;
  private static final long AS = 65_000;
  private static final FlowRule RULE = Rules.queuePair("fd00:2::2", 0x11);
  private static final RuleAnnouncer.Target LIST_2 =
      new RuleAnnouncer.Target(2, SteeredGateway.ROUTER_ID);

  @TempDir private Path folder;
  private final RecordingListener heard = new RecordingListener();
  private final RuleAnnouncer announcer =
      new RuleAnnouncer(List.of(Rules.CODEC, Rules.IPV4_CODEC), SteeredGateway.STEERING);
  private NetworkNamespaces net;
  private Process reflector;
  private SteeredGateway gateway;
  private BgpSpeaker controller;
  private BgpSpeaker witness;
  private PeerSession fromController;

  @BeforeEach
  void start() throws Exception {
    if (!Files.isExecutable(DAEMON)) {
      System.out.println("skipped: " + DAEMON + " isn't installed");
      Assumptions.abort(DAEMON + " isn't installed");
    }
    Requirements.namespaces();
    NetworkTopology topology = NetworkTopology.of("all");
    for (String each : List.of(REFLECTOR, CONTROLLER, GATEWAY, WITNESS)) {
      topology.address("all", "lo", each + "/128");
    }
    net = topology.create();
    gateway = new SteeredGateway(RuleGrace.DEFAULT);
    controller = new BgpSpeaker(heard.logTo());
    witness = new BgpSpeaker(heard.logTo());
    for (BgpSpeaker each : List.of(gateway.speaker, controller, witness)) {
      each.callOnLoop(() -> {
        net.node("all").enter();
        return each;
      });
    }
    launch();
    gateway.connect(options(GATEWAY, SteeredGateway.ROUTER_ID));
    fromController = controller.add(options(CONTROLLER, CONTROLLER_ID), announcer);
    controller.execute(fromController::start);
    PeerSession toWitness = witness.add(options(WITNESS, 0x0a0000f0), heard);
    witness.execute(toWitness::start);
    gateway.await("the gateway's session", gateway::isEstablished);
    heard.awaitEvent("established");
  }

  @AfterEach
  void stop() throws Exception {
    for (BgpSpeaker each : new BgpSpeaker[] {controller, witness}) {
      if (each != null) {
        each.close();
      }
    }
    if (gateway != null) {
      gateway.close();
    }
    if (reflector != null) {
      reflector.destroyForcibly().waitFor();
    }
    if (net != null) {
      net.close();
    }
  }

  private void launch() throws Exception {
    StringBuilder configuration =
        new StringBuilder(
            """
            [global.config]
              as = %s
              router-id = "10.0.0.250"
              local-address-list = ["%s"]
            """
                .formatted(AS, REFLECTOR));
    for (String each : List.of(CONTROLLER, GATEWAY, WITNESS)) {
      configuration.append(
          """
          [[neighbors]]
            [neighbors.config]
              neighbor-address = "%s"
              peer-as = %s
            [neighbors.transport.config]
              passive-mode = true
            [neighbors.route-reflector.config]
              route-reflector-client = true
              route-reflector-cluster-id = "10.0.0.250"
            [[neighbors.afi-safis]]
              [neighbors.afi-safis.config]
                afi-safi-name = "ipv6-flowspec"
            [[neighbors.afi-safis]]
              [neighbors.afi-safis.config]
                afi-safi-name = "ipv4-flowspec"
          """
              .formatted(each, AS));
    }
    Path file = folder.resolve("gobgp.toml");
    Files.writeString(file, configuration);
    List<String> command =
        List.of(DAEMON.toString(), "-f", file.toString(), "--api-hosts", "127.0.0.1:50051");
    reflector =
        new ProcessBuilder(net.node("all").command(command))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("gobgpd.log").toFile())
            .start();
  }

  private static PeerOptions options(String local, int routerId) {
    return PeerOptions.builder("reflector")
        .remote(Prefix.of(REFLECTOR).address())
        .localAddress(Prefix.of(local).address())
        .localAs(AS)
        .remoteAs(AS)
        .routerId(routerId)
        .families(Families.of(List.of(Rules.CODEC, Rules.IPV4_CODEC)))
        .retryMs(100, 500)
        .build();
  }

  @Test
  void ruleAndWithdrawalReachTheGatewayByteForByte() {
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    gateway.awaitList(2);
    RuleEntry winner = gateway.speaker.callOnLoop(() -> gateway.table.winner(SteeredGateway.FLOW));
    assertArrayEquals(RULE.bytes(), winner.rule().bytes());
    assertEquals(CONTROLLER_ID, winner.routerId(), "the controller's, not the reflector's");
    heard.await("the rule", () -> !heard.updates.isEmpty());
    UpdateMessage passed = heard.updates.getFirst();
    assertEquals(List.of(RULE), passed.of(Rules.CODEC).announced());
    assertEquals(
        List.of(
            new ExtendedCommunity.Redirect(0, 5, 2),
            new ExtendedCommunity.RouteTarget(
                ExtendedCommunity.RouteTarget.Administrator.ADDRESS, SteeredGateway.ROUTER_ID, 0)),
        passed.attributes().extendedCommunities());
    controller.execute(() -> announcer.withdraw(RULE));
    gateway.awaitList(0);
    heard.await("the withdrawal", () -> heard.updates.getLast().withdrawnRoutes() == 1);
    assertEquals(List.of(RULE), heard.updates.getLast().of(Rules.CODEC).withdrawn());
    assertEquals(List.of(), gateway.warnings());
  }

  @Test
  void ipv4RuleReachesTheGatewayByteForByteBesideIpv6s() {
    FlowRule ofFour = Rules.queuePair("10.2.0.2", 0x11);
    FlowKey flow = Rules.flow("10.1.0.1", "10.2.0.2", 0x11);
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    controller.execute(
        () -> announcer.announce(ofFour, new RuleAnnouncer.Target(3, SteeredGateway.ROUTER_ID)));
    gateway.awaitList(2);
    gateway.await("the IPv4 rule", () -> gateway.list(flow) == 3);
    RuleEntry winner = gateway.speaker.callOnLoop(() -> gateway.table.winner(flow));
    assertArrayEquals(ofFour.bytes(), winner.rule().bytes());
    assertEquals(CONTROLLER_ID, winner.routerId());
    controller.execute(() -> announcer.withdraw(ofFour));
    gateway.await("the withdrawal", () -> gateway.list(flow) == 0);
    assertEquals(2, gateway.list(), "the other family's stays");
    assertEquals(List.of(), gateway.warnings());
  }

  @Test
  void rulesEndWithTheirController() {
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    gateway.awaitList(2);
    controller.close();
    gateway.awaitList(0);
    assertTrue(gateway.isEstablished());
  }

  @Test
  void lateGatewayReceivesThePresentRules() {
    controller.execute(() -> announcer.announce(RULE, LIST_2));
    gateway.awaitList(2);
    gateway.speaker.remove(gateway.session, "for a while");
    gateway.await("no rules", () -> gateway.rules() == 0);
    gateway.connect(options(GATEWAY, SteeredGateway.ROUTER_ID));
    gateway.awaitList(2);
  }
}
