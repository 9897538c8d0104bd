package io.heddle.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.NetworkNamespace;
import io.heddle.platform.testing.SystemTest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Test of a lab's switches when the system refuses a step. */
@EndsWithin(60)
@SystemTest
class LabSwitchesTest {
  private final Log log = (level, sentence) -> {};

  private static LabSwitch switchIn(String namespace) {
    SwitchMember one = new SwitchMember("e0", "fe80::1", 1, 1_000_000_000, List.of());
    SwitchMember other = new SwitchMember("e1", "fe80::2", 2, 1_000_000_000, List.of());
    SwitchGroup group = new SwitchGroup("fd00::/16", List.of(one, other));
    return new LabSwitch(namespace, namespace, 1, List.of("e0", "e1"), List.of(group));
  }

  private LabSwitches start(List<LabSwitch> switches, CommandRunner runner) {
    return LabSwitches.start(switches, SwitchingMode.HASH, SprayScope.GLOBAL, false, runner, log);
  }

  @Test
  void refusalAtTheSecondSwitchUndoesTheFirst() {
    List<String> undone = new CopyOnWriteArrayList<>();
    CommandRunner runner =
        (command, input) -> {
          if (input.contains("delete table inet heddle-switched")) {
            undone.add(command.get(3));
          } else if (command.contains("second")) {
            throw new HeddleException("refused as asked");
          }
          return "";
        };
    List<LabSwitch> both = List.of(switchIn("first"), switchIn("second"));
    HeddleException refused = assertThrows(HeddleException.class, () -> start(both, runner));
    assertEquals("refused as asked", refused.getMessage());
    assertEquals(List.of("first", "second"), undone);
  }

  @Test
  void failedWatchStartUndoesAllSwitches() {
    List<String> undone = new CopyOnWriteArrayList<>();
    CommandRunner runner =
        (command, input) -> {
          if (input.contains("delete table inet heddle-switched")) {
            undone.add(command.get(3));
          }
          return "";
        };
    List<LabSwitch> missing = List.of(switchIn("no-such-namespace"));
    assertThrows(HeddleException.class, () -> start(missing, runner));
    assertEquals(List.of("no-such-namespace"), undone);
  }

  @Test
  void failureOfTheWatchIsReportedToItsWaiter() throws InterruptedException {
    NetworkNamespace.assumeAvailable();
    try (NetworkNamespace namespace = NetworkNamespace.create("watch")) {
      for (String link : List.of("0", "1")) {
        namespace.ip(
            "link add e" + link + " type veth peer name p" + link,
            "link set e" + link + " up",
            "link set p" + link + " up");
      }
      CommandRunner runner =
          (command, input) -> {
            /* Refuses the rules that leave out the failed link, which have only one mark. */
            if (input.contains("mod 1 ")) {
              throw new HeddleException("refused as asked");
            }
            return "";
          };
      try (LabSwitches running = start(List.of(switchIn(namespace.name())), runner)) {
        namespace.ip("link set e0 down");
        running.awaitFailure();
        HeddleException lost = assertThrows(HeddleException.class, running::counts);
        assertTrue(
            lost.getMessage().startsWith("the watch of the lab's switches has failed"),
            lost.getMessage());
      }
    }
  }

  @Test
  void laterPortIsSwitchedToo() {
    NetworkNamespace.assumeAvailable();
    try (NetworkNamespace namespace = NetworkNamespace.create("port")) {
      for (String link : List.of("0", "1")) {
        namespace.ip(
            "link add e" + link + " type veth peer name p" + link,
            "link set e" + link + " up",
            "link set p" + link + " up");
      }
      List<String> rules = new CopyOnWriteArrayList<>();
      CommandRunner runner =
          (command, input) -> {
            rules.add(input);
            return "";
          };
      try (LabSwitches running = start(List.of(switchIn(namespace.name())), runner)) {
        running.addPort(namespace.name(), "late");
        running.configure(SwitchingMode.SPRAY, SprayScope.GLOBAL);
        assertTrue(
            rules.stream().anyMatch(each -> each.contains("\"late\" } ip6 daddr fd00::/16")),
            rules.toString());
        assertThrows(IllegalArgumentException.class, () -> running.addPort("other", "late"));
      }
    }
  }
}
