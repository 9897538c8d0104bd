package io.heddle.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.dataplane.FlowRecord;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.gateway.peer.ControllerSessions;
import io.heddle.gateway.peer.SteeredTo;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Start, changes of interfaces, and end of a gateway on a host whose WAN doesn't answer. */
@EndsWithin(120)
final class GatewayLifeTest {
  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(30);
    while (!condition.getAsBoolean()) {
      assertFalse(deadline.isOver(), what + " doesn't come");
      Thread.sleep(2);
    }
  }

  private static List<String> rules(Gateway gateway) {
    return gateway.view().rules().rules().stream()
        .map(each ->
            each.queuePair()
                + " by "
                + each.list()
                + (each.active() ? "" : " waits")
                + ", "
                + each.setBy())
        .toList();
  }

  @Test
  void controllerRulesOutliveATerminatedGateway() throws Exception {
    try (LoneHost host = new LoneHost()) {
      host.controller(2, 17);
      Gateway first = host.start(LoneHost.steered());
      await("the rule", () -> rules(first).equals(List.of("17 by sl2, controller 10.0.0.9")));
      first.close();
      SteerKey key = new SteerKey(AddressText.parse(LoneHost.DESTINATION), 17, null);
      assertThrows(HeddleException.class, () -> first.steer(key, "sl1"));
      Gateway second = host.start(LoneHost.config("", ""));
      assertTrue(second.view().lists().adopted());
      assertEquals(List.of("17 by sl2, found at the start"), rules(second));
    }
  }

  @Test
  void ipv4QueuePairsAreSteeredByRulesOfTheirFamily() throws Exception {
    try (LoneHost host = new LoneHost()) {
      host.call(() -> Files.writeString(Path.of("/proc/sys/net/ipv4/ip_forward"), "1\n"));
      host.controller("10.1.0.1", "10.2.0.2", 2, 17);
      Gateway gateway = host.start(LoneHost.steeredIpv4());
      await("the rule", () -> rules(gateway).equals(List.of("17 by sl2, controller 10.0.0.9")));
      assertEquals("10.2.0.2", gateway.view().rules().rules().getFirst().destination());
      assertEquals(1, gateway.peers().peers().getFirst().rules());
    }
  }

  private static boolean hasRoutes(LoneHost host, int list) {
    return host.exec("ip", "-6", "route", "show", "table", "" + (8_400 + list))
        .contains("encap seg6");
  }

  @Test
  void linkThatFlapsBetweenTwoPollsGetsItsRoutesBack() throws Exception {
    try (LoneHost host = new LoneHost()) {
      Gateway gateway = host.start(LoneHost.config("", ""));
      host.poll(gateway);
      assertTrue(hasRoutes(host, 1));
      host.ip("link set w1 down", "link set w1 up");
      assertFalse(hasRoutes(host, 1), "the kernel has forgotten them");
      host.poll(gateway);
      assertTrue(hasRoutes(host, 1));
      assertTrue(gateway.view().lists().lists().getFirst().alive());
    }
  }

  @Test
  void recreatedInterfacesAreAttachedAgain() throws Exception {
    try (LoneHost host = new LoneHost()) {
      Gateway gateway = host.start(LoneHost.config("", ""));
      host.poll(gateway);
      for (String name : List.of("lan", "w2")) {
        host.ip("link del " + name);
        host.link(name);
      }
      assertFalse(hasProgram(host));
      assertFalse(hasRoutes(host, 2));
      host.poll(gateway);
      assertTrue(hasProgram(host));
      assertTrue(hasRoutes(host, 2));
      host.ip("link del lan");
      host.poll(gateway);
      host.link("lan");
      host.poll(gateway);
      assertTrue(hasProgram(host), "and after a while without it");
    }
  }

  private static boolean hasProgram(LoneHost host) {
    return host.exec("tc", "filter", "show", "dev", "lan", "ingress").contains("heddle_gateway");
  }

  @Test
  void failedFirstStartRemovesItsDataPlane() throws Exception {
    try (LoneHost host = new LoneHost()) {
      GatewayConfig notOurs = LoneHost.config("reflect = fc00:9::9", "");
      HeddleException failed = assertThrows(HeddleException.class, () -> host.start(notOurs));
      assertTrue(failed.getMessage().contains("fc00:9::9"), failed.getMessage());
      assertFalse(hasProgram(host));
      assertFalse(hasRoutes(host, 1));
      assertFalse(host.exec("ip", "-6", "rule").contains("8401"));

      Gateway good = host.start(LoneHost.config("", ""));
      good.close();
      assertThrows(HeddleException.class, () -> host.start(notOurs));
      assertTrue(hasProgram(host), "what was at work before goes on");
      assertTrue(hasRoutes(host, 1));
    }
  }

  @Test
  void unusableCertificateIsAFaultBeforeTheStart() throws Exception {
    try (LoneHost host = new LoneHost()) {
      GatewayConfig config =
          LoneHost.config(
              """
              telemetry = ::1
              telemetry-certificate = /nowhere/gw1.pem
              telemetry-key = /nowhere/gw1.key
              telemetry-authorities = /nowhere/ca.pem\
              """,
              "");
      List<String> faults = host.call(() -> HostFindings.faults(config));
      assertEquals(List.of("/nowhere/gw1.pem can't be read: it doesn't exist"), faults);
      assertThrows(HeddleException.class, () -> host.start(config));
      assertFalse(hasProgram(host));
    }
  }

  @Test
  void faultOfTheBgpThreadRunsTheFailureAction() throws Exception {
    ControllerSessions.Steering broken =
        new ControllerSessions.Steering() {
          @Override
          public void rules(Map<SteerKey, SteeredTo> changed, Set<SteerKey> gone) {}

          @Override
          public Collection<FlowRecord> flows() {
            throw new IllegalStateException("on purpose");
          }

          @Override
          public void graceEnded() {}
        };
    try (LoneHost host = new LoneHost();
        ControllerSessions sessions =
            host.call(() ->
                ControllerSessions.start(
                    LoneHost.steered().controllers(),
                    list -> true,
                    broken,
                    (level, sentence) -> {}))) {
      CountDownLatch lost = new CountDownLatch(1);
      sessions.onPersistentFailure(lost::countDown);
      sessions.listsChanged();
      await("the end", () -> lost.getCount() == 0);
    }
  }

  @Test
  void answerHasTheTimeOfTheSampleNotOfTheQuery() throws Exception {
    try (LoneHost host = new LoneHost()) {
      Gateway gateway = host.start(LoneHost.config("", ""));
      host.poll(gateway);
      String sampled = gateway.view().lists().time();
      await("another moment", () -> Instant.now().isAfter(Instant.parse(sampled).plusMillis(2)));
      assertEquals(sampled, gateway.view().lists().time());
      assertEquals(sampled, gateway.view().flows().time());
      assertEquals(sampled, gateway.view().rules().time());
      host.poll(gateway);
      assertNotEquals(sampled, gateway.view().lists().time());
    }
  }
}
