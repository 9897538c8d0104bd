package io.heddle.cli.operate;

import io.heddle.addr.AddressText;
import io.heddle.addr.Plane;
import io.heddle.cli.stat.StatsFolders;
import io.heddle.platform.HeddleException;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Planes to one peer that the running jobs of this host use. */
final class PeerPlanes {
  /**
   * One plane, over all connections to the peer.
   *
   * @param key the plane's key
   * @param local this end's address
   * @param remote the peer's address
   * @param weight weight of the plane in the newest connection
   * @param weightShare share of the plane's weight in the sum of all planes' weights
   * @param source source of the weight
   * @param sentBytes bytes sent over the plane by all connections
   * @param sentShare share of the plane's bytes in those of all planes; 0 if none were sent
   */
  record Entry(
      String key,
      String local,
      String remote,
      int weight,
      double weightShare,
      String source,
      long sentBytes,
      double sentShare) {}

  /**
   * The whole document.
   *
   * @param peer address of the peer, as given on the command line
   * @param connections number of connections of this host's jobs to the peer
   */
  record Document(String peer, int connections, List<Entry> planes) {}

  private PeerPlanes() {}

  /**
   * Reads the planes to a peer.
   *
   * @param folders folders with statistics files
   * @throws HeddleException if no running job has a connection to this address
   */
  static Document read(List<Path> folders, InetAddress peer) {
    List<List<ProcessStats.Row>> processes = new ArrayList<>();
    for (Path folder : folders) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.stats")) {
        for (Path file : files) {
          processes.add(rows(file));
        }
      } catch (IOException unreadable) {
        throw new HeddleException(StatsFolders.unreadable(folder, unreadable), unreadable);
      }
    }
    List<ProcessStats.Row> found = new ArrayList<>();
    int connections = 0;
    for (List<ProcessStats.Row> rows : processes) {
      Set<String> names = new HashSet<>();
      for (ProcessStats.Row row : rows) {
        if (Arrays.equals(row.remote(), sixteen(peer))) {
          names.add(row.peer());
          connections++;
        }
      }
      rows.stream().filter(row -> names.contains(row.peer())).forEach(found::add);
    }
    if (found.isEmpty()) {
      throw new HeddleException(
          "no running job of this host sends to "
              + AddressText.of(peer)
              + " (read "
              + processes.size()
              + " processes in "
              + folders
              + "); --stats names another folder");
    }
    return new Document(AddressText.of(peer), connections, entries(found));
  }

  private static List<ProcessStats.Row> rows(Path file) {
    try {
      return StatsReader.read(file).stream()
          .filter(row -> row.direction() == StatsFile.Direction.SEND && isKnown(row.remote()))
          .toList();
    } catch (HeddleException goneMeanwhile) {
      return List.of();
    }
  }

  private static boolean isKnown(byte[] address) {
    return !Arrays.equals(address, new byte[address.length]);
  }

  private static byte[] sixteen(InetAddress address) {
    byte[] raw = address.getAddress();
    if (raw.length == 16) {
      return raw;
    }
    byte[] mapped = new byte[16];
    mapped[10] = -1;
    mapped[11] = -1;
    System.arraycopy(raw, 0, mapped, 12, raw.length);
    return mapped;
  }

  private static List<Entry> entries(List<ProcessStats.Row> rows) {
    Map<String, ProcessStats.Row> last = new TreeMap<>(Plane.KEY_ORDER);
    Map<String, Long> bytes = new TreeMap<>(Plane.KEY_ORDER);
    for (ProcessStats.Row row : rows) {
      last.put(row.planeKey(), row);
      bytes.merge(row.planeKey(), row.bytes(), Long::sum);
    }
    long weights = last.values().stream().mapToLong(ProcessStats.Row::weight).sum();
    long sent = bytes.values().stream().mapToLong(Long::longValue).sum();
    List<Entry> entries = new ArrayList<>();
    last.forEach((key, row) -> {
      long own = bytes.getOrDefault(key, 0L);
      entries.add(
          new Entry(
              key,
              text(row.local()),
              text(row.remote()),
              row.weight(),
              weights == 0 ? 0 : (double) row.weight() / weights,
              row.weightSource(),
              own,
              sent == 0 ? 0 : (double) own / sent));
    });
    return entries;
  }

  private static String text(byte[] address) {
    try {
      return AddressText.of(InetAddress.getByAddress(address));
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("sixteen bytes are an address", impossible);
    }
  }

  static String table(Document document) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%-14s %-36s %-36s %7s %7s %15s %7s  %s%n",
            "plane",
            "from",
            "to",
            "weight",
            "share",
            "sent bytes",
            "sent",
            "weight by"));
    for (Entry plane : document.planes()) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-14s %-36s %-36s %7d %6.1f%% %15d %6.1f%%  %s%n",
              plane.key(),
              plane.local(),
              plane.remote(),
              plane.weight(),
              100 * plane.weightShare(),
              plane.sentBytes(),
              100 * plane.sentShare(),
              plane.source()));
    }
    return text.toString();
  }
}
