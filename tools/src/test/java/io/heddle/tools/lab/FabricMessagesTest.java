package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.tools.lab.FabricTopology.Link;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Test of the selection of links by node, of the parsers of daemons' replies, and of messages about
 * missing parts.
 */
class FabricMessagesTest {
  private static List<String> names(List<Link> links) {
    return links.stream()
        .map(link -> link.leaf().node().name() + ":" + link.leaf().interfaceName())
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "1, l1,  l1:s1a",
    "2, l1,  l1:s1b",
    "3, l2,  l2:s2a",
    "4, s2,  l1:s2b;l2:s2b",
    "2, all, l1:s1b;l2:s1b"
  })
  void cutOfAPlaneAffectsItsLinksAtTheNode(int plane, String at, String links) {
    FabricTopology fabric = FabricTopologyTest.leafSpine(2, 2, 2, 2, false);
    assertEquals(links, String.join(";", names(fabric.linksOf(plane, at))));
  }

  @Test
  void cutOfASeparatePlaneIsAtAHostsPort() {
    FabricTopology planes = FabricTopologyTest.separate(3, 2, false);
    assertEquals(List.of("l2:h1"), names(planes.linksOf(2, "h1")));
    assertEquals(List.of("l3:h1", "l3:h2"), names(planes.linksOf(3, "l3")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | l1 | the lab has no plane 0; it has 1 to 2",
        "3 | l1 | the lab has no plane 3; it has 1 to 2",
        "1 | x9 | the lab has no 'x9'; it has l1, l2, s1, s2, h1, h2",
        "1 | s2 | s2 has no link of plane 1 alone; its links end at l1, s1, l2",
        "1 | h1 | h1 has no link of plane 1 alone; its links end at l1, s1, l2"
      })
  void invalidCutIsRejectedWithTheAlternatives(int plane, String at, String sentence) {
    FabricTopology fabric = FabricTopologyTest.leafSpine(2, 1, 2, 2, false);
    LabException refused = assertThrows(LabException.class, () -> fabric.linksOf(plane, at));
    assertEquals(sentence, refused.getMessage());
  }

  private static FabricStatus status(boolean alive, int sessions, int own, List<String> missing) {
    return new FabricStatus(
        "lab",
        "leaf-spine",
        "now",
        false,
        List.of(
            new FabricStatus.PlaneStatus(1, "s1", 1, 100, 0, 0, 2, 2, List.of(), List.of()),
            new FabricStatus.PlaneStatus(2, "s2", 1, 100, 0, 0, own, 2, List.of(), List.of())),
        List.of(
            new FabricStatus.RouterStatus("l1", "bird", List.of(1L), true, 2, 2, 1),
            new FabricStatus.RouterStatus("l2", "bird", List.of(2L), alive, sessions, 2, 1)),
        List.of(new FabricStatus.HostStatus("h1", "ns", List.of(), missing)));
  }

  @Test
  void unreadyFabricNamesAllMissingParts() {
    assertEquals("", status(true, 2, 2, List.of()).missingParts());
    assertEquals(
        "l2 is dead and has 0 of 2 sessions; plane 2 has 1 of 2 paths; h1 has no fd00::1, fd00::2",
        status(false, 0, 1, List.of("fd00::1", "fd00::2")).missingParts());
    assertEquals("l2 has 1 of 2 sessions", status(true, 1, 2, List.of()).missingParts());
    assertEquals(
        "l2 is dead and has 2 of 2 sessions", status(false, 2, 2, List.of()).missingParts());
  }

  @Test
  void establishedSessionsOfBirdAreCounted() {
    String protocols =
        """
        BIRD 2.0.12 ready.
        Name       Proto      Table      State  Since         Info
        device1    Device     ---        up     18:00:01.000
        own        Static     master6    up     18:00:01.000
        up_s1_1    BGP        ---        up     18:00:03.000  Established
        up_s2      BGP        ---        start  18:00:01.000  Passive
        up_s2_1    BGP        ---        start  18:00:03.000  Active        Socket: Connection refused
        h1         BGP        ---        start  18:00:01.000  Passive
        h1_1       BGP        ---        up     18:00:04.000  Established
        h3_1       BGP        ---        up     18:00:04.000  Established
        """;
    assertEquals(new FabricDaemons.Sessions(1, 2), FabricDaemons.birdSessions(protocols));
    assertEquals(new FabricDaemons.Sessions(0, 0), FabricDaemons.birdSessions(""));
  }

  @Test
  void establishedSessionsOfFrrAreCounted() {
    String peers =
        """
        {"routerId": "10.0.1.2", "peers": {
          "s1": {"state": "Established"}, "s2": {"state": "Active"},
          "s3": {"state": "Established"},
          "fd00:fe::2": {"state": "Established"},
          "h2": {"state": "Established"}, "h4": {"state": "Idle"}}}
        """;
    assertEquals(new FabricDaemons.Sessions(3, 1), FrrRouter.sessions("l2", peers));
    LabException garbage =
        assertThrows(
            LabException.class, () -> FrrRouter.sessions("l2", "% BGP instance not found"));
    assertEquals("vtysh on l2 printed no JSON: % BGP instance not found", garbage.getMessage());
  }

  @Test
  void missingProgramsAreNamedWithEachPackageOnce() {
    Program shell = new Program("sh", "dash");
    assertEquals(Optional.empty(), Program.missing(List.of(shell)));
    assertEquals(
        Optional.of(
            "missing: no-such-bird, no-such-birdc, /no/such/zebra; install with: apt-get install"
                + " bird2 frr"),
        Program.missing(
            List.of(
                new Program("no-such-bird", "bird2"),
                shell,
                new Program("no-such-birdc", "bird2"),
                new Program("/no/such/zebra", "frr"))));
  }
}
