package io.heddle.cli.lab;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A program of the system that a lab takes.
 *
 * @param name as the path finds it
 * @param debianPackage that brings it
 */
record Program(String name, String debianPackage) {
  static final Program IP = new Program("ip", "iproute2");
  static final Program TC = new Program("tc", "iproute2");
  static final Program NFT = new Program("nft", "nftables");

  /** A sentence on those that aren't there, with the remedy; empty where all are. */
  static Optional<String> missing(List<Program> programs) {
    List<Program> missing = programs.stream().filter(each -> !each.isInstalled()).toList();
    if (missing.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        "missing: "
            + String.join(", ", missing.stream().map(Program::name).toList())
            + "; install with: apt-get install "
            + String.join(" ", missing.stream().map(Program::debianPackage).distinct().toList()));
  }

  private boolean isInstalled() {
    String path = System.getenv().getOrDefault("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    return Stream.of(path.split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder).resolve(name)));
  }
}
