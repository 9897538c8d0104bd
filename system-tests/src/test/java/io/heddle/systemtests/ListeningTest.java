package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a rank listens on while a job runs, by the kernel's tables, is what docs/security.md says
 * and nothing else.
 */
@Timeout(120)
final class ListeningTest {
  private static final int PLANES = 2;
  private static final String LISTENS = "0A";
  private static final String ROCE_PORT = "4791";

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

  /* The process's rows of one of the kernel's tables, in words. */
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

  /* Whether it is bound to an address that is the host's only, and to which port. */
  private static String place(String protocol, String local, boolean knownPort) {
    int colon = local.indexOf(':');
    boolean all = local.substring(0, colon).chars().allMatch(digit -> digit == '0');
    return protocol
        + (all ? " on all addresses" : " on one address")
        + (knownPort ? ", port " + Integer.parseInt(local.substring(colon + 1), 16) : "");
  }

  private static Set<String> listening(long process) throws IOException {
    Set<String> found = new TreeSet<>();
    for (String table : List.of("tcp", "tcp6")) {
      for (String[] row : rows(process, table, 9)) {
        if (row[3].equals(LISTENS)) {
          found.add(place("TCP", row[1], false));
        }
      }
    }
    for (String table : List.of("udp", "udp6", "raw", "raw6")) {
      for (String[] row : rows(process, table, 9)) {
        boolean connected = !row[2].matches("0+:0+");
        if (!connected) {
          found.add(place(table.startsWith("udp") ? "UDP" : "raw", row[1], true));
        }
      }
    }
    /* A pair of sockets without a name, as Java wakes its selectors by, is within reach of nobody else. */
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
  void aRankListensOnWhatTheSecurityPageSaysAndNothingElse() throws Exception {
    BuiltParts.plugin();
    BuiltParts.allReduce();
    DemoProcess.assume(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000));
        HostProcess first = rank(lab, 0);
        HostProcess second = rank(lab, 1)) {
      long enough = lab.sentBytesByPlane().getFirst() + (64 << 20);
      while (lab.sentBytesByPlane().getFirst() < enough && first.isAlive() && second.isAlive()) {
        Thread.sleep(20);
      }
      for (HostProcess each : List.of(first, second)) {
        assertEquals(
            new TreeSet<>(Set.of("TCP on one address", "UDP on one address, port " + ROCE_PORT)),
            listening(each.pid()),
            each::outputOrWhyNot);
      }
    }
  }
}
