package io.heddle.tools.lab;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Program that must be installed on the system, such as those that a lab runs.
 *
 * @param name name of the program's file, in a folder of PATH
 * @param debianPackage Debian package that contains the program
 */
public record Program(String name, String debianPackage) {
  static final Program IP = new Program("ip", "iproute2");
  static final Program TC = new Program("tc", "iproute2");
  public static final Program NFT = new Program("nft", "nftables");
  public static final Program BIRD = new Program("bird", "bird2");
  public static final Program OPENSSL = new Program("openssl", "openssl");

  /** Returns a line that names missing programs and their packages; empty if none is missing. */
  public static Optional<String> missing(List<Program> programs) {
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
