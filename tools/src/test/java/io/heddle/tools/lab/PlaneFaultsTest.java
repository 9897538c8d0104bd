package io.heddle.tools.lab;

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

/** Test of {@link PlaneFaults}: commands on hosts that inject and undo faults. */
class PlaneFaultsTest {
  @TempDir private Path folder;
  private Path told;
  private PlaneFaults faults;

  /** Lab of two hosts with two planes that records each command and its input. */
  private final class RecordingLab implements Lab {
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
    faults = new PlaneFaults(new RecordingLab());
  }

  private String recorded() throws IOException {
    String text = Files.readString(told);
    Files.delete(told);
    return text;
  }

  @Test
  void carrierIsCutAtOneInterfaceAndRestoredWithItsAddress() throws IOException {
    faults.cutCarrier(1, 0);
    assertEquals("host 1: ip link set e1 down\n", recorded());
    Runnable ready = faults.prepareCarrierCut(1, 1);
    ready.run();
    assertEquals("host 1: ip -batch -\nlink set e2 down\n", recorded());
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
        recorded());
  }

  @Test
  void silentCutDropsBothDirectionsUntilRestored() throws IOException {
    String cut =
        """
        host 0: nft -f -
        table inet fault_e2 {
          chain received { type filter hook prerouting priority -500; iifname "e2" drop; }
          chain sent { type filter hook postrouting priority 500; oifname "e2" drop; }
        }
        """;
    faults.cutSilently(0, 1);
    assertEquals(cut, recorded());
    faults.prepareSilentCut(0, 1).run();
    assertEquals(cut, recorded(), "prepared or not");
    faults.restore(0, 1);
    assertTrue(recorded().contains("\ndelete table inet fault_e2\n"));
  }

  @Test
  void lossIsPerMille() throws IOException {
    faults.dropShare(1, 0, 25);
    String rules = recorded();
    assertTrue(rules.contains("iifname \"e1\" numgen random mod 1000 < 25 drop;"), rules);
    assertTrue(rules.contains("oifname \"e1\" numgen random mod 1000 < 25 drop;"), rules);
  }

  @Test
  void narrowPathSeesSinglePacketsOfAllHosts() throws IOException {
    faults.narrow(1, 1, 4_200);
    String rules = recorded();
    assertTrue(rules.contains("host 0: ip link set dev e2 gso_max_segs 1\n"), rules);
    assertTrue(rules.contains("host 1: ip link set dev e2 gso_max_segs 1\n"), rules);
    assertTrue(rules.contains("iifname \"e2\" meta length > 4200 drop;"), rules);
    faults.widen(1, 1);
    String undone = recorded();
    assertTrue(undone.contains("\ndelete table inet fault_e2\n"), undone);
    assertTrue(undone.contains("host 0: ip link set dev e2 gso_max_segs 65535\n"), undone);
    assertTrue(undone.contains("host 1: ip link set dev e2 gso_max_segs 65535\n"), undone);
  }

  @Test
  void allPlanesOfAHostAreCutAndRestored() throws IOException {
    faults.cutAllCarriers(1);
    assertEquals("host 1: ip -batch -\nlink set e1 down\nlink set e2 down\n", recorded());
    faults.cutAllSilently(0);
    String rules = recorded();
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
        recorded());
  }

  @Test
  void addressIsRemovedWhileTheLinkStaysUp() throws IOException {
    faults.removeAddress(0, 1);
    assertEquals("host 0: ip -6 addr flush dev e2 scope global\n", recorded());
  }
}
