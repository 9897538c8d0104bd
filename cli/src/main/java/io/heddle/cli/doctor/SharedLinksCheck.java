package io.heddle.cli.doctor;

import io.heddle.addr.RocePorts;
import io.heddle.cli.paths.KnownPaths;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Ipv6Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** Check of whether the flows of running soft devices to a measured peer take different links. */
final class SharedLinksCheck implements Check {
  private static final Cause SHARED =
      new Cause(
          "flows-share-a-link",
          "all queue pairs of a plane to a peer take the same link, although there are several");
  private static final Path SOCKETS = Path.of("/proc/net/udp6");

  private final List<Path> measurements;
  private final Path sockets;

  /**
   * Creates the check.
   *
   * @param measurements files that {@code heddle paths measure --save} wrote
   */
  SharedLinksCheck(List<Path> measurements) {
    this(measurements, SOCKETS);
  }

  SharedLinksCheck(List<Path> measurements, Path sockets) {
    this.measurements = measurements;
    this.sockets = sockets;
  }

  @Override
  public String name() {
    return "links";
  }

  @Override
  public String summary() {
    return "With --paths FILE, a measurement of heddle paths measure: whether the queue pairs of"
        + " running soft devices to that peer take different links.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(SHARED);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    for (Path file : measurements) {
      try {
        findings.add(checkFile(file, KnownPaths.read(file)));
      } catch (HeddleException unreadable) {
        findings.add(new Finding.Unknown(String.valueOf(unreadable.getMessage())));
      } catch (IOException unreadable) {
        findings.add(
            new Finding.Unknown(file + " can't be read: " + FileFailure.reason(unreadable)));
      }
    }
    return findings;
  }

  private Finding checkFile(Path file, KnownPaths known) throws IOException {
    SortedSet<Integer> ports = ports(known);
    String flows =
        "%s queue pairs from %s to %s".formatted(ports.size(), known.source(), known.destination());
    if (ports.size() < 2 || known.count() == 1) {
      return new Finding.Ok(
          "%s; %s %s"
              .formatted(flows, known.count(), known.count() == 1 ? "path exists" : "paths exist"));
    }
    List<String> paths = new ArrayList<>();
    for (int port : ports) {
      String path = known.path(port);
      if (path != null) {
        paths.add(path);
      }
    }
    if (paths.size() < ports.size()) {
      return new Finding.Unknown(
          flows
              + ": the paths of %s are unknown, as they weren't measured and the hash isn't linear"
                  .formatted(ports.size() - paths.size()));
    }
    SortedSet<String> used = new TreeSet<>(paths);
    return used.size() > 1
        ? new Finding.Ok("%s use %s of %s paths".formatted(flows, used.size(), known.count()))
        : new Finding.Warning(
            SHARED,
            "%s all go over %s, one of %s paths".formatted(flows, used.first(), known.count()),
            "start the job with the line that heddle paths pick %s %s prints"
                .formatted(ports.size(), file));
  }

  /*
   * Returns the source ports of this host's sockets that are connected to the measured peer. In
   * /proc, an address is four 32-bit words, each printed in the processor's byte order.
   */
  private SortedSet<Integer> ports(KnownPaths known) throws IOException {
    SortedSet<Integer> ports = new TreeSet<>();
    for (String line : Files.readAllLines(sockets)) {
      String[] words = line.strip().split("\\s+");
      if (words.length > 2 && words[1].length() == 37 && words[2].length() == 37) {
        if (address(words[1]).equals(known.source())
            && address(words[2]).equals(known.destination())
            && RocePorts.STANDARD.contains(port(words[2]))) {
          ports.add(port(words[1]));
        }
      }
    }
    return ports;
  }

  private static int port(String end) {
    return Integer.parseInt(end.substring(33), 16);
  }

  private static String address(String end) {
    byte[] memory = HexFormat.of().parseHex(end.substring(0, 32));
    byte[] bytes = new byte[16];
    for (int i = 0; i < 16; i++) {
      bytes[i] = memory[i / 4 * 4 + 3 - i % 4];
    }
    return Ipv6Text.of(bytes);
  }
}
