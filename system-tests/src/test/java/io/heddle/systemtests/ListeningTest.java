package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test that a job's rank, the route daemon, the exporter and {@code heddle doctor --answer} listen
 * on exactly the sockets that docs/security.md lists. The sockets are read from /proc/net.
 */
@EndsWithin(120)
@SystemTest
final class ListeningTest {
  private static final int PLANES = 2;
  private static final String LISTENS = "0A";

  /**
   * The kernel's lowest ephemeral port. Ports from this one on are arbitrary, also the source ports
   * of BFD (RFC 5881).
   */
  private static final int FIRST_CHOSEN_PORT = 32_768;

  private static final long LIMIT_SECONDS = 60;

  @TempDir private Path folder;

  private HostProcess rank(Lab lab, int rank) throws IOException {
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_PROVIDER", "soft"),
        HostProcess.endlessAllReduce(folder, rank, 2, 1 << 20));
  }

  private static Set<String> socketsOf(long process) throws IOException {
    Set<String> inodes = new HashSet<>();
    try (var files = Files.list(Path.of("/proc", Long.toString(process), "fd"))) {
      for (Path each : files.toList()) {
        try {
          String target = Files.readSymbolicLink(each).toString();
          if (target.startsWith("socket:[")) {
            inodes.add(target.substring("socket:[".length(), target.length() - 1));
          }
        } catch (NoSuchFileException closedMeanwhile) {
          continue;
        }
      }
    }
    return inodes;
  }

  /* Returns the rows of a table in /proc/net that belong to a process, split into words. */
  private static List<String[]> rows(long process, String table, int inodeColumn)
      throws IOException {
    Set<String> own = socketsOf(process);
    List<String[]> rows = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("/proc", Long.toString(process), "net", table))) {
      String[] words = line.strip().split("\\s+");
      if (words.length > inodeColumn && own.contains(words[inodeColumn])) {
        rows.add(words);
      }
    }
    return rows;
  }

  /*
   * Describes a socket by its protocol, by whether it listens on all addresses or on one, and by
   * its port if the port is fixed.
   */
  private static String place(String protocol, String local) {
    int colon = local.indexOf(':');
    boolean all = local.substring(0, colon).chars().allMatch(digit -> digit == '0');
    int port = Integer.parseInt(local.substring(colon + 1), 16);
    return protocol
        + (all ? " on all addresses, " : " on one address, ")
        + (port < FIRST_CHOSEN_PORT ? "port " + port : "a port that was free");
  }

  private static Set<String> listening(long process) throws IOException {
    Set<String> found = new TreeSet<>();
    for (String table : List.of("tcp", "tcp6")) {
      for (String[] row : rows(process, table, 9)) {
        if (row[3].equals(LISTENS)) {
          found.add(place("TCP", row[1]));
        }
      }
    }
    for (String table : List.of("udp", "udp6", "raw", "raw6")) {
      for (String[] row : rows(process, table, 9)) {
        boolean connected = !row[2].matches("0+:0+");
        if (!connected) {
          found.add(place(table.startsWith("udp") ? "UDP" : "raw", row[1]));
        }
      }
    }
    /* Java wakes its selectors through an unnamed socket pair, which no other process can reach. */
    for (String[] row : rows(process, "unix", 6)) {
      if (row.length > 7) {
        found.add("unix " + row[7]);
      }
    }
    for (String[] row : rows(process, "packet", 8)) {
      found.add("packet socket " + row[0]);
    }
    return found;
  }

  @Test
  void rankListensOnDocumentedSocketsOnly() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000));
        HostProcess first = rank(lab, 0);
        HostProcess second = rank(lab, 1)) {
      long enough = lab.sentBytesByPlane().getFirst() + (64 << 20);
      while (lab.sentBytesByPlane().getFirst() < enough && first.isAlive() && second.isAlive()) {
        Thread.sleep(20);
      }
      for (HostProcess each : List.of(first, second)) {
        assertEquals(
            new TreeSet<>(
                Set.of(
                    "TCP on one address, a port that was free", "UDP on one address, port 4791")),
            listening(each.pid()),
            each::outputOrWhyNot);
      }
    }
  }

  /*
   * Waits until the process listens on exactly the expected sockets, which it opens one after
   * another. If it opens a socket that isn't expected, the wait fails.
   */
  private static void awaitListening(Set<String> expected, long process, Supplier<String> log)
      throws Exception {
    Set<String> sorted = new TreeSet<>(expected);
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (!listening(process).containsAll(sorted) && !deadline.isOver()) {
      Thread.sleep(50);
    }
    assertEquals(sorted, listening(process), log);
  }

  private Path routes(int host) {
    return folder.resolve("run" + host).resolve("routes");
  }

  private RouteDaemonProcess daemon(Lab lab, int host, String listen) throws IOException {
    return RouteDaemonProcess.start(
        lab.command(host, List.of("sh", "-c", "umask 077; exec \"$@\"", "sh")),
        folder.resolve("daemon" + host),
        """
        as = %s
        publish = %s
        %s
        [peer of-the-link]
        interface = e1
        plane = 1
        [peer by-address]
        address = %s
        as = %s
        plane = 2
        bfd-interval-ms = 100
        """
            .formatted(
                65_001 + host, routes(host), listen, LabPlan.address(1 - host, 1), 65_002 - host),
        "--stats",
        folder.toString());
  }

  @Test
  void routeDaemonListensOnDocumentedSocketsOnly() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 1500));
        RouteDaemonProcess open = daemon(lab, 0, "");
        RouteDaemonProcess closed = daemon(lab, 1, "listen-port = 0")) {
      Set<String> both =
          Set.of(
              "UDP on all addresses, port 3784",
              "UDP on one address, a port that was free",
              "raw on all addresses, port 58");
      Set<String> first = new TreeSet<>(both);
      Path socket = folder.resolve("daemon0").resolve("sock");
      first.addAll(Set.of("TCP on all addresses, port 179", "unix " + socket));
      awaitListening(first, open.pid(), () -> logOf(open));
      Set<String> second = new TreeSet<>(both);
      second.add("unix " + folder.resolve("daemon1").resolve("sock"));
      awaitListening(second, closed.pid(), () -> logOf(closed));
      open.awaitLog("weights are published");
      assertEquals("rw-rw-rw-", modeOf(socket));
      assertEquals("rw-r--r--", modeOf(routes(0)));
      assertEquals("rwxr-xr-x", modeOf(routes(0).getParent()));
    }
  }

  private static String logOf(RouteDaemonProcess daemon) {
    try {
      return daemon.log();
    } catch (IOException unreadable) {
      return unreadable.toString();
    }
  }

  private static String modeOf(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private HostProcess heddle(Lab lab, String... arguments) throws IOException {
    return HostProcess.start(
        lab, 0, folder.resolve(arguments[0] + ".log"), Map.of(), HeddleRun.command(arguments));
  }

  @Test
  void exporterAndDoctorListenOnDocumentedSocketsOnly() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 1500));
        HostProcess exporter = heddle(lab, "exporter", "--stats", folder.toString());
        HostProcess doctor = heddle(lab, "doctor", "--answer")) {
      awaitListening(
          Set.of("TCP on one address, port 9400"), exporter.pid(), exporter::outputOrWhyNot);
      awaitListening(
          Set.of("UDP on one address, port 4791", "UDP on one address, port 4854"),
          doctor.pid(),
          doctor::outputOrWhyNot);
    }
  }
}
