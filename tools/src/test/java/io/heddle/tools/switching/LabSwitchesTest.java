package io.heddle.tools.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Test of a lab's switches when the system refuses a step, and of ports that are added later. */
@EndsWithin(60)
@SystemTest
class LabSwitchesTest {
  private final Log log = (level, sentence) -> {};
  private NetworkNamespaces net;
  private NetworkNamespace namespace;

  @BeforeEach
  void createNamespace() {
    Requirements.skipWhere(LabSwitches.refusal().orElse(""));
    Requirements.namespaces();
    net =
        NetworkTopology.of("leaf")
            .link("leaf e0", "leaf p0")
            .link("leaf e1", "leaf p1")
            .link("leaf e2", "leaf p2")
            .create();
    namespace = net.node("leaf");
  }

  @AfterEach
  void removeNamespace() {
    if (net != null) {
      net.close();
    }
  }

  private static LabSwitch switchIn(String namespace, String... ownPrefixes) {
    List<String> prefixes = List.of(ownPrefixes);
    SwitchMember one = new SwitchMember("e0", "fe80::1", 1, 1_000_000_000, prefixes);
    SwitchMember other = new SwitchMember("e1", "fe80::2", 2, 1_000_000_000, prefixes);
    SwitchGroup group = new SwitchGroup("fd00::/16", List.of(one, other));
    return new LabSwitch(namespace, namespace, 1, List.of("e0", "e1"), List.of(group));
  }

  private LabSwitches start(LabSwitch... switches) {
    return LabSwitches.start(List.of(switches), SwitchingMode.HASH, SprayScope.GLOBAL, log);
  }

  private String filters(String port) {
    return namespace.run("tc", "filter", "show", "dev", port, "ingress");
  }

  @Test
  void refusalAtTheSecondSwitchUndoesTheFirst() {
    LabSwitch first = switchIn(namespace.name());
    LabSwitch second = switchIn("no-such-namespace");
    assertThrows(HeddleException.class, () -> start(first, second));
    assertEquals("", filters("e0"));
    assertEquals("", filters("e1"));
  }

  @Test
  void failedWatchStartUndoesAllSwitches() {
    LabSwitch unfit = switchIn(namespace.name(), "no prefix");
    assertThrows(IllegalArgumentException.class, () -> start(unfit));
    assertEquals("", filters("e0"));
  }

  @Test
  void failureOfTheWatchIsReportedToItsWaiter() throws InterruptedException {
    LabSwitch own = switchIn(namespace.name());
    try (LabSwitches running = start(own)) {
      namespace.ip("link set e0 down");
      Deadline deadline = Deadline.ofSeconds(30);
      while (running.counts().getFirst().alive()) {
        assertFalse(deadline.isOver(), () -> running.counts() + " within " + deadline);
        Thread.sleep(10);
      }
      /* A link without IPv6 has a carrier, but the kernel refuses its route. */
      namespace.set(List.of("net.ipv6.conf.e0.disable_ipv6=1"));
      namespace.ip("link set e0 up");
      running.awaitFailure();
      HeddleException lost = assertThrows(HeddleException.class, running::counts);
      assertTrue(
          lost.getMessage().startsWith("the watch of the lab's switches has failed"),
          lost.getMessage());
    }
  }

  @Test
  void laterPortIsSwitchedTooUntilTheProgramIsRemoved() {
    try (LabSwitches running = start(switchIn(namespace.name()))) {
      assertEquals("", filters("e2"));
      running.addPort(namespace.name(), "e2");
      assertTrue(filters("e2").contains("bpf"), filters("e2"));
      LabSwitch late =
          new LabSwitch("late", namespace.name(), 1, List.of("e2"), switchIn("").groups());
      assertEquals(2, LabSwitches.counts(List.of(late)).size(), "the same program is found");
      assertThrows(IllegalArgumentException.class, () -> running.addPort("other", "e2"));
      running.remove();
      assertEquals("", filters("e2"));
      assertEquals(Optional.empty(), SwitchProgram.find(late));
    }
  }
}
