package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.HostAddresses;
import io.heddle.addr.PlaneDiscovery;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the check for links that queue pairs share. The sockets are like a soft device's, and a
 * file has the measured path of each port.
 */
final class SharedLinksCheckTest {
  @TempDir private Path folder;
  private final List<DatagramChannel> channels = new ArrayList<>();

  /*
   * Opens a connected UDP socket, like that of a soft device's queue pair. The kernel chooses the
   * source port, which is returned.
   */
  private int queuePair() throws Exception {
    InetAddress loopback = InetAddress.getByName("::1");
    DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET6);
    channels.add(channel);
    channel.bind(new InetSocketAddress(loopback, 0));
    channel.connect(new InetSocketAddress(loopback, 4791));
    return ((InetSocketAddress) channel.getLocalAddress()).getPort();
  }

  @AfterEach
  void closeSockets() throws Exception {
    for (DatagramChannel each : channels) {
      each.close();
    }
  }

  private Path measured(Map<Integer, String> spines) throws Exception {
    List<String> ports = new ArrayList<>();
    spines.forEach((port, spine) ->
        ports.add("{\"port\": %s, \"routers\": [\"leaf\", \"%s\"]}".formatted(port, spine)));
    return Files.writeString(
        folder.resolve("measured.json"),
        """
        {"source": "::1", "destination": "::1", "length": 2, "reached": true, "groups": [],
         "in_use": [], "ports": [%s]}
        """
            .formatted(String.join(",", ports)));
  }

  /*
   * Writes a file with the lines of /proc/net/udp6 about this test's sockets, since other sockets
   * of the host may use the same port.
   */
  private Path sockets() throws Exception {
    List<String> own = new ArrayList<>();
    for (DatagramChannel each : channels) {
      int port = ((InetSocketAddress) each.getLocalAddress()).getPort();
      own.add(String.format(Locale.ROOT, ":%04X", port));
    }
    List<String> lines =
        Files.readAllLines(Path.of("/proc/net/udp6")).stream()
            .filter(line -> own.contains(line.strip().split("\\s+")[1].replaceFirst(".*:", ":")))
            .toList();
    assertEquals(channels.size(), lines.size(), lines.toString());
    return Files.write(folder.resolve("udp6"), lines);
  }

  private Finding look(Path... files) throws Exception {
    Host host =
        new Host(
            Map.of(),
            new HostAddresses(List.of(), List.of()),
            new PlaneDiscovery.Result(List.of(), List.of(), List.of()),
            null,
            new HostDevices(List.of(), List.of(), List.of()),
            new Host.Places(files[0], null, files[0], null, null));
    List<Finding> findings = new SharedLinksCheck(List.of(files), sockets()).run(host);
    assertEquals(1, findings.size());
    return findings.getFirst();
  }

  @Test
  void queuePairsThatAllTakeOneLinkAreReported() throws Exception {
    int first = queuePair();
    int second = queuePair();
    Finding finding = look(measured(Map.of(first, "spine1", second, "spine1", 1, "spine2")));
    assertTrue(finding instanceof Finding.Warning, finding.toString());
    assertEquals("flows-share-a-link", ((Finding.Warning) finding).cause().id());
    assertTrue(
        finding.evidence().contains("2 queue pairs from ::1 to ::1 all go over spine1"),
        finding.evidence());
    assertTrue(((Finding.Warning) finding).remedy().contains("heddle paths pick 2 "));
  }

  @Test
  void queuePairsOnSeveralLinksAreOk() throws Exception {
    int first = queuePair();
    int second = queuePair();
    Finding finding = look(measured(Map.of(first, "spine1", second, "spine2")));
    assertTrue(finding instanceof Finding.Ok, finding.toString());
    assertTrue(finding.evidence().contains("use 2 of 2 paths"), finding.evidence());
  }

  @Test
  void unmeasuredPortIsUnknown() throws Exception {
    int first = queuePair();
    queuePair();
    Finding finding = look(measured(Map.of(first, "spine1", 1, "spine2")));
    assertTrue(finding instanceof Finding.Unknown, finding.toString());
    assertTrue(finding.evidence().contains("the paths of 1 are unknown"), finding.evidence());
  }

  @Test
  void singlePathIsOk() throws Exception {
    int first = queuePair();
    int second = queuePair();
    Finding finding = look(measured(Map.of(first, "spine1", second, "spine1")));
    assertEquals(Finding.Ok.class, finding.getClass(), finding.toString());
  }

  @Test
  void malformedMeasurementIsUnknown() throws Exception {
    Finding none = look(folder.resolve("nothing.json"));
    assertTrue(none instanceof Finding.Unknown, none.toString());
    Finding other = look(Files.writeString(folder.resolve("other.json"), "{}"));
    assertTrue(other instanceof Finding.Unknown, other.toString());
  }
}
