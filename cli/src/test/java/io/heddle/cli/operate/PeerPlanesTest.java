package io.heddle.cli.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.Prefix;
import io.heddle.cli.stat.StatsFolders;
import io.heddle.platform.HeddleException;
import io.heddle.stats.PlaneCounters;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsFile.Direction;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the planes to one peer, and of the set of all peers, both read from the statistics of
 * running jobs.
 */
final class PeerPlanesTest {
  @TempDir private Path folder;
  private StatsFile file;

  @BeforeEach
  void begin() {
    file = new StatsFile(folder, (level, sentence) -> {});
  }

  @AfterEach
  void end() {
    file.close();
  }

  private static byte[] address(String text) throws Exception {
    byte[] raw = InetAddress.getByName(text).getAddress();
    if (raw.length == 16) {
      return raw;
    }
    byte[] mapped = new byte[16];
    mapped[10] = -1;
    mapped[11] = -1;
    System.arraycopy(raw, 0, mapped, 12, raw.length);
    return mapped;
  }

  private PlaneCounters plane(
      Direction direction, String peer, String key, int weight, String local, String remote)
      throws Exception {
    PlaneCounters plane = file.open(direction, key, weight, peer);
    plane.setAddresses(address(local), address(remote));
    return plane;
  }

  private PeerPlanes.Document read(String peer) throws Exception {
    return PeerPlanes.read(List.of(folder), InetAddress.getByName(peer));
  }

  @Test
  void peerIsFoundByAnyAddressAndShownWithAllPlanes() throws Exception {
    plane(Direction.SEND, "peer pid 1", "colour:10", 1, "fd00::a:1", "fd00::a:2").chunk(250);
    plane(Direction.SEND, "peer pid 1", "colour:9", 3, "fd00::9:1", "fd00::9:2").chunk(750);
    plane(Direction.SEND, "other pid 1", "colour:9", 7, "fd00::9:1", "fd00::9:3").chunk(9_000);
    PeerPlanes.Document document = read("fd00::a:2");
    assertEquals("fd00::a:2", document.peer());
    assertEquals(1, document.connections());
    List<PeerPlanes.Entry> planes = document.planes();
    assertEquals(
        List.of("colour:9", "colour:10"),
        planes.stream().map(PeerPlanes.Entry::key).toList(),
        "in the order of numbers");
    assertEquals("fd00::9:1", planes.getFirst().local());
    assertEquals("fd00::9:2", planes.getFirst().remote());
    assertEquals(0.75, planes.getFirst().weightShare());
    assertEquals(750, planes.getFirst().sentBytes());
    assertEquals(0.25, planes.getLast().sentShare());
    assertTrue(PeerPlanes.table(document).contains("  25.0%"), PeerPlanes.table(document));
  }

  @Test
  void bytesAreSummedAndTheNewestConnectionGivesTheWeight() throws Exception {
    plane(Direction.SEND, "peer pid 1", "1", 5, "fd00::1", "fd00::2").chunk(100);
    plane(Direction.SEND, "peer pid 1", "1", 2, "fd00::1", "fd00::2").chunk(50);
    PeerPlanes.Document document = read("fd00::2");
    assertEquals(2, document.connections());
    assertEquals(150, document.planes().getFirst().sentBytes());
    assertEquals(2, document.planes().getFirst().weight());
  }

  @Test
  void ipv4PeerIsFound() throws Exception {
    plane(Direction.SEND, "peer pid 1", "1", 1, "127.0.1.1", "127.0.2.1").chunk(8);
    assertEquals("127.0.2.1", read("127.0.2.1").planes().getFirst().remote());
  }

  @Test
  void sharesAreZeroIfNothingWasSent() throws Exception {
    plane(Direction.SEND, "peer pid 1", "1", 0, "fd00::1", "fd00::2");
    PeerPlanes.Entry plane = read("fd00::2").planes().getFirst();
    assertEquals(0, plane.weightShare());
    assertEquals(0, plane.sentShare());
  }

  @Test
  void peerOnlyReceivedFromIsNoDestination() throws Exception {
    plane(Direction.RECEIVE, "peer pid 1", "1", 1, "fd00::1", "fd00::2").chunk(8);
    HeddleException none = assertThrows(HeddleException.class, () -> read("fd00::2"));
    assertTrue(
        String.valueOf(none.getMessage())
            .startsWith("no running job of this host sends to fd00::2 (read 1 processes in "),
        none.getMessage());
  }

  @Test
  void jobPeersAreThePeerAddressesOfAllPlanes() throws Exception {
    plane(Direction.SEND, "peer pid 1", "1", 1, "fd00::1", "fd00::2");
    plane(Direction.RECEIVE, "peer pid 2", "1", 1, "fd00::1", "fd00::3");
    file.open(Direction.SEND, "2", 1, "peer pid 1");
    assertEquals(
        Set.of(Prefix.of("fd00::2"), Prefix.of("fd00::3")),
        new JobPeers(new StatsFolders(folder)).get());
  }
}
