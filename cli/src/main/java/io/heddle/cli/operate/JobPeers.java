package io.heddle.cli.operate;

import io.heddle.bgp.wire.Prefix;
import io.heddle.cli.stat.StatsFolders;
import io.heddle.platform.HeddleException;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Addresses of the peers of this host's jobs, from their statistics files. */
final class JobPeers implements Supplier<Set<Prefix>> {
  private final StatsFolders folders;

  JobPeers(StatsFolders folders) {
    this.folders = folders;
  }

  @Override
  public Set<Prefix> get() {
    Set<Prefix> peers = new TreeSet<>();
    for (Path user : folders.folders()) {
      try {
        addPeersOfUser(user, peers);
      } catch (IOException goneMeanwhile) {
        /* The job ended while its files were read; the caller reads again soon. */
      }
    }
    return peers;
  }

  private static void addPeersOfUser(Path user, Set<Prefix> peers) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(user, "*.stats")) {
      for (Path file : files) {
        if (StatsReader.hasEnded(file)) {
          continue; // the job has ended, so its peers aren't in use
        }
        try {
          for (ProcessStats.Row row : StatsReader.read(file)) {
            ByteBuffer remote = ByteBuffer.wrap(row.remote());
            Prefix host = new Prefix(remote.getLong(0), remote.getLong(8), Prefix.MAX_LENGTH);
            if (host.high() != 0 || host.isIpv4()) {
              peers.add(host);
            }
          }
        } catch (HeddleException goneMeanwhile) {
          /* The job ended while this file was read. */
        }
      }
    }
  }
}
