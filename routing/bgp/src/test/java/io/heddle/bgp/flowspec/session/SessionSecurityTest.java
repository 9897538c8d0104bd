package io.heddle.bgp.flowspec.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of the protection against injected rules: TCP-MD5 (RFC 2385) and GTSM (RFC 5082) between a
 * controller and a gateway, with a router between them. Each test first configures a fault, then
 * corrects it, and the session comes up.
 */
@EndsWithin(120)
final class SessionSecurityTest {
  private static final String CONTROLLER = "fd00:c:1::2";
  private static final String GATEWAY = "fd00:c:2::1";
  private static final int PORT = 10_179;
  private static final long SHORT_MS = 600;
  private static final FlowRule RULE = Rules.queuePair("fd00:2::2", 0x11);

  private final List<String> log = new CopyOnWriteArrayList<>();
  private final RuleAnnouncer announcer = new RuleAnnouncer(Rules.CODEC, SteeredGateway.STEERING);
  private NetworkNamespaces net;
  private SteeredGateway gateway;
  private BgpSpeaker controller;
  private PeerSession session;

  @BeforeEach
  void connectNamespaces() {
    Requirements.namespaces();
    net =
        NetworkTopology.of("controller", "gateway")
            .node("router", "net.ipv6.conf.all.forwarding=1")
            .link("controller up0", "router left")
            .address("controller", "up0", CONTROLLER + "/64")
            .address("router", "left", "fd00:c:1::ff/64")
            .ip("controller", "route add default via fd00:c:1::ff")
            .link("gateway up0", "router right")
            .address("gateway", "up0", GATEWAY + "/64")
            .address("router", "right", "fd00:c:2::ff/64")
            .ip("gateway", "route add default via fd00:c:2::ff")
            .create();
    gateway = new SteeredGateway(RuleGrace.DEFAULT);
    controller = new BgpSpeaker((level, sentence) -> log.add(sentence));
    enter(gateway.speaker, net.node("gateway"));
    enter(controller, net.node("controller"));
    gateway.speaker.listen(Endpoint.anyAddress(PORT));
    announcer.announce(RULE, new RuleAnnouncer.Target(2, SteeredGateway.ROUTER_ID));
  }

  private static void enter(BgpSpeaker speaker, NetworkNamespace namespace) {
    speaker.callOnLoop(() -> {
      namespace.enter();
      return namespace;
    });
  }

  @AfterEach
  void closeAll() {
    if (controller != null) {
      controller.close();
    }
    if (gateway != null) {
      gateway.close();
    }
    if (net != null) {
      net.close();
    }
  }

  private static PeerOptions.Builder options(String peer) {
    return PeerOptions.builder("peer")
        .remote(Prefix.of(peer).address())
        .port(PORT)
        .localAs(65_000)
        .remoteAs(65_000)
        .families(Families.of(List.of(Rules.CODEC)))
        .retryMs(20, 100)
        .openWaitMs(SHORT_MS);
  }

  private void startGateway(String key, int hops) {
    gateway.connect(
        options(CONTROLLER)
            .routerId(SteeredGateway.ROUTER_ID)
            .md5Key(key)
            .gtsmHops(hops)
            .passive(true)
            .build());
  }

  private void startController(String key, int hops) {
    PeerOptions made = options(GATEWAY).routerId(9).md5Key(key).gtsmHops(hops).build();
    session = controller.add(made, announcer);
    controller.execute(session::start);
  }

  private void stopController() {
    controller.remove(session, "other options follow");
  }

  private void awaitLine(String part) {
    gateway.await(
        part, () -> log.stream().anyMatch(each -> each.contains(part)) || gateway.hasLogged(part));
  }

  private void awaitRule() {
    gateway.awaitList(2);
    assertTrue(gateway.isEstablished());
  }

  private void assertKeptOut() {
    assertEquals(0, controller.callOnLoop(() -> session.status().counters().established()));
    assertFalse(gateway.isEstablished());
    assertEquals(0, gateway.rules());
  }

  @Test
  void controllerWithAnotherKeyIsRefusedWithAHint() {
    startGateway("weft", 0);
    startController("warp", 0);
    awaitLine("has the peer the same MD5 key?");
    assertKeptOut();
    stopController();
    startController("weft", 0);
    awaitRule();
  }

  @Test
  void controllerWithoutAKeyIsRefused() {
    startGateway("weft", 0);
    startController("", 0);
    awaitLine("a wrong MD5 key or a hop limit (GTSM) has the same effect");
    assertKeptOut();
    stopController();
    startController("weft", 0);
    awaitRule();
  }

  @Test
  void controllerBehindTooManyRoutersIsRefused() {
    startGateway("", 1);
    startController("", 0);
    awaitLine("a wrong MD5 key or a hop limit (GTSM) has the same effect");
    assertKeptOut();
    stopController();
    gateway.speaker.remove(gateway.session, "other options follow");
    startGateway("", 2);
    startController("", 2);
    awaitRule();
  }

  @Test
  void controllerRefusesAGatewayBehindTooManyRouters() {
    startGateway("", 0);
    startController("", 1);
    awaitLine("does it send with a hop limit of 255 (GTSM)?");
    assertKeptOut();
    stopController();
    startController("", 2);
    awaitRule();
  }
}
