package io.heddle.cli.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** At which host's which interface a fault is, and that its end undoes it: what hosts are told. */
class PlaneFaultsTest {
  @TempDir private Path folder;
  private Path told;
  private PlaneFaults faults;

  /** Two hosts of two planes, on which each command and its input are written down. */
  private final class ToldLab implements Lab {
    @Override
    public Kind kind() {
      return Kind.NAMESPACES;
    }

    @Override
    public LabPlan plan() {
      return new LabPlan(2, 2, 9_000);
    }

    @Override
    public List<String> command(int rank, List<String> command) {
      String script = "{ echo \"host $0: $*\"; cat; } >> '" + told + "'";
      List<String> whole = new ArrayList<>(List.of("/bin/sh", "-c", script));
      whole.add(Integer.toString(rank));
      whole.addAll(command);
      return whole;
    }

    @Override
    public Map<String, String> environment(int rank) {
      return Map.of();
    }

    @Override
    public List<Long> sentBytesByPlane() {
      return List.of();
    }

    @Override
    public void close() {}
  }

  @BeforeEach
  void begin() {
    told = folder.resolve("told");
    faults = new PlaneFaults(new ToldLab());
  }

  private String told() throws IOException {
    String text = Files.readString(told);
    Files.delete(told);
    return text;
  }

  @Test
  void aCarrierIsCutAtOneInterfaceAndComesBackWithItsAddress() throws IOException {
    faults.cutCarrier(1, 0);
    assertEquals("host 1: ip link set e1 down\n", told());
    Runnable ready = faults.readyToCutCarrier(1, 1);
    ready.run();
    assertEquals("host 1: ip -batch -\nlink set e2 down\n", told());
    faults.restore(1, 1);
    assertEquals(
        """
        host 1: nft -f -
        add table inet fault_e2
        delete table inet fault_e2
        host 1: ip -batch -
        link set e2 up
        addr replace fd00:1:1:2:0:ff:fe00:202/64 dev e2 nodad
        """,
        told());
  }

  @Test
  void aSilentCutDropsBothWaysWhatTheRestorationLetsPass() throws IOException {
    String cut =
        """
        host 0: nft -f -
        table inet fault_e2 {
          chain received { type filter hook prerouting priority -500; iifname "e2" drop; }
          chain sent { type filter hook postrouting priority 500; oifname "e2" drop; }
        }
        """;
    faults.cutSilently(0, 1);
    assertEquals(cut, told());
    faults.readyToCutSilently(0, 1).run();
    assertEquals(cut, told(), "prepared or not");
    faults.restore(0, 1);
    assertTrue(told().contains("\ndelete table inet fault_e2\n"));
  }

  @Test
  void aLossIsOfThatManyInAThousand() throws IOException {
    faults.lose(1, 0, 25);
    String rules = told();
    assertTrue(rules.contains("iifname \"e1\" numgen random mod 1000 < 25 drop;"), rules);
    assertTrue(rules.contains("oifname \"e1\" numgen random mod 1000 < 25 drop;"), rules);
  }

  @Test
  void aNarrowSwitchSeesPacketsOfAllHostsAndNotTrains() throws IOException {
    faults.narrow(1, 1, 4_200);
    String rules = told();
    assertTrue(rules.contains("host 0: ip link set dev e2 gso_max_segs 1\n"), rules);
    assertTrue(rules.contains("host 1: ip link set dev e2 gso_max_segs 1\n"), rules);
    assertTrue(rules.contains("iifname \"e2\" meta length > 4200 drop;"), rules);
    faults.widen(1, 1);
    String undone = told();
    assertTrue(undone.contains("\ndelete table inet fault_e2\n"), undone);
    assertTrue(undone.contains("host 0: ip link set dev e2 gso_max_segs 65535\n"), undone);
    assertTrue(undone.contains("host 1: ip link set dev e2 gso_max_segs 65535\n"), undone);
  }

  @Test
  void allPlanesOfAHostAreCutAndRestoredTogether() throws IOException {
    faults.cutAllCarriers(1);
    assertEquals("host 1: ip -batch -\nlink set e1 down\nlink set e2 down\n", told());
    faults.cutAllSilently(0);
    String rules = told();
    assertTrue(rules.contains("table inet fault_all {"), rules);
    assertTrue(rules.contains("iifname \"e*\" drop;"), rules);
    faults.restoreAll(0);
    assertEquals(
        """
        host 0: nft -f -
        add table inet fault_all
        delete table inet fault_all
        host 0: ip -batch -
        link set e1 up
        addr replace fd00:1:1:1:0:ff:fe00:101/64 dev e1 nodad
        link set e2 up
        addr replace fd00:1:1:2:0:ff:fe00:201/64 dev e2 nodad
        """,
        told());
  }

  @Test
  void anAddressIsTakenWhileTheLinkStays() throws IOException {
    faults.removeAddress(0, 1);
    assertEquals("host 0: ip -6 addr flush dev e2 scope global\n", told());
  }
}
