package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.doctor.StrayBytes.Stray;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StrayBytesTest {
  private static final long MANY = 10 * StrayBytes.ENOUGH_BYTES;
  private static final Map<String, String> INTERFACES = Map.of("if:e1", "e1", "if:e2", "e2");

  @Test
  void planeThatLeavesByAnotherInterfaceIsFound() {
    assertEquals(
        List.of(new Stray("if:e2", MANY, "e2", 800, "e1", 2 * MANY)),
        StrayBytes.find(
            Map.of("if:e1", MANY, "if:e2", MANY), INTERFACES, Map.of("e1", 2 * MANY, "e2", 800L)));
  }

  @Test
  void planeThatLeavesByAnInterfaceWithoutPlaneIsFound() {
    assertEquals(
        List.of(new Stray("if:e1", MANY, "e1", 0, "eth0", MANY)),
        StrayBytes.find(
            Map.of("if:e1", MANY), INTERFACES, Map.of("eth0", MANY, "e1", 0L, "e2", 0L)));
  }

  @Test
  void planesThatKeepToTheirInterfacesAreNotFound() {
    assertEquals(
        List.of(),
        StrayBytes.find(
            Map.of("if:e1", MANY, "if:e2", 3 * MANY),
            INTERFACES,
            Map.of("e1", MANY + 900, "e2", 3 * MANY + 900, "eth0", 5 * MANY)));
  }

  @Test
  void ranksOfOneHostAreNotFound() {
    assertEquals(
        List.of(),
        StrayBytes.find(
            Map.of("if:e1", MANY), INTERFACES, Map.of("lo", 2 * MANY, "e1", 0L, "e2", 0L)));
  }

  @Test
  void fewBytesAreIgnored() {
    assertEquals(
        List.of(),
        StrayBytes.find(
            Map.of("if:e1", StrayBytes.ENOUGH_BYTES - 1), INTERFACES, Map.of("eth0", MANY)));
  }

  @Test
  void countersOfTheKernelAreReadByName() throws IOException {
    assertEquals(
        Map.of("lo", 77L, "e1:0", 5L),
        StrayBytes.parse(
            List.of(
                "Inter-|   Receive                    |  Transmit",
                " face |bytes    packets errs drop fifo frame compressed multicast|bytes",
                "    lo: 1 2 3 4 5 6 7 8 77 10 11 12 13 14 15 16",
                "  e1:0:       1 2 3 4 5 6 7 8 5 10 11 12 13 14 15 16")));
    assertTrue(StrayBytes.byInterface().containsKey("lo"));
  }

  @Test
  void countThatFellGrowsByZero() {
    assertEquals(
        Map.of("a", 5L, "b", 0L, "c", 0L),
        StrayBytes.added(Map.of("a", 1L, "b", 9L), Map.of("a", 6L, "b", 3L, "c", 4L)));
  }
}
