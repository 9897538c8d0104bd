package io.heddle.systemtests;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Root folder like a fresh machine's: the C library, a shell, and files that a test adds. A process
 * inside it sees neither Java nor a build.
 */
final class BareRoot {
  private static final Pattern LIBRARY = Pattern.compile("(?:=> )?(/\\S+) \\(0x");
  private static final String ENTER =
      "mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && exec chroot \"$0\""
          + " \"$@\"";

  private final Path path;

  private BareRoot(Path path) {
    this.path = path;
  }

  static BareRoot in(Path path) throws IOException, InterruptedException {
    for (String folder : List.of("proc", "dev", "tmp", "bin")) {
      Files.createDirectories(path.resolve(folder));
    }
    BareRoot root = new BareRoot(path);
    Path shell = Path.of("/bin/sh").toRealPath();
    root.copyLibrariesOf(shell);
    Files.copy(shell, path.resolve("bin/sh"), StandardCopyOption.COPY_ATTRIBUTES);
    return root;
  }

  Path path() {
    return path;
  }

  /** Copies those libraries of the host with which a program or library is linked. */
  void copyLibrariesOf(Path file) throws IOException, InterruptedException {
    Matcher library = LIBRARY.matcher(run(List.of("ldd", file.toString())));
    while (library.find()) {
      Path from = Path.of(library.group(1));
      Path to = path.resolve("." + from).normalize();
      if (!from.startsWith(path) && !Files.exists(to)) {
        Files.createDirectories(to.getParent());
        Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  /** Copies the libraries of all shared libraries and programs under a folder of this root. */
  void copyLibrariesBelow(Path folder) throws IOException, InterruptedException {
    List<Path> binaries;
    try (Stream<Path> files = Files.walk(folder)) {
      binaries = files.filter(Files::isRegularFile).filter(BareRoot::isElf).toList();
    }
    for (Path binary : binaries) {
      copyLibrariesOf(binary);
    }
  }

  private static boolean isElf(Path file) {
    try (var stream = Files.newInputStream(file)) {
      byte[] magic = stream.readNBytes(4);
      return magic.length == 4 && magic[0] == 0x7f && magic[1] == 'E' && magic[2] == 'L';
    } catch (IOException unreadable) {
      throw new java.io.UncheckedIOException(unreadable);
    }
  }

  /**
   * Returns the command line that runs {@code command} in this root, with only the given
   * environment.
   */
  List<String> command(List<String> environment, List<String> command) {
    List<String> whole = new ArrayList<>(List.of("unshare", "--mount", "env", "-i"));
    whole.add("PATH=/usr/bin:/bin:/usr/sbin:/sbin");
    whole.addAll(environment);
    whole.addAll(List.of("sh", "-c", ENTER, path.toString()));
    whole.addAll(command);
    return whole;
  }

  /** Runs a command to its end and returns its output. A failed command fails the test. */
  static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    /* ldd exits with 1 for a static program. */
    if (code != 0 && !command.getFirst().equals("ldd")) {
      throw new AssertionError(String.join(" ", command) + " ended with " + code + ":\n" + output);
    }
    return output;
  }
}
