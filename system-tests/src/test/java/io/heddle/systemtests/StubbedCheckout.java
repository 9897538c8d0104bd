package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checkout that has only scripts. Maven and apt-get are scripts that record their arguments, and
 * PATH has only the command's requirements.
 */
abstract class StubbedCheckout {
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
  private static final List<String> TOOLS =
      List.of(
          "awk",
          "bash",
          "cat",
          "chmod",
          "dirname",
          "env",
          "find",
          "flock",
          "head",
          "id",
          "ip",
          "mkdir",
          "mv",
          "readlink",
          "rm",
          "sed",
          "sh",
          "sleep",
          "sort",
          "tail",
          "tee",
          "touch",
          "uname");

  private static final List<String> SCRIPTS =
      List.of(
          "heddle",
          "config/build-progress.sh",
          "config/jdk.sh",
          "config/tests.sh",
          "packaging/start.sh");

  @TempDir Path folder;
  Path checkout;
  Path programs;
  Path requestFile;

  @BeforeEach
  void copyTheScripts() throws IOException {
    checkout = Files.createDirectory(folder.resolve("checkout"));
    programs = Files.createDirectory(folder.resolve("programs"));
    requestFile = folder.resolve("asked");
    for (String script : SCRIPTS) {
      Path copy = checkout.resolve(script);
      Files.createDirectories(copy.getParent());
      Files.copy(
          REPOSITORY.resolve(script), copy, java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
    }
    for (String tool : TOOLS) {
      program(tool, "exec " + find(tool) + " \"$@\"\n");
    }
  }

  /* Removes a link that leads out of the test's folder, about which JUnit would warn. */
  @AfterEach
  void removeTheLink() throws IOException {
    Files.deleteIfExists(checkout.resolve("tools/target/heddle-tools.jar"));
  }

  static Path find(String tool) {
    return Stream.of((System.getenv("PATH") + ":/usr/sbin:/sbin").split(":"))
        .map(each -> Path.of(each, tool))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + tool));
  }

  void program(String name, String script) throws IOException {
    Path file = programs.resolve(name);
    Files.deleteIfExists(file);
    Files.writeString(file, "#!/bin/sh\n" + script);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /* Makes the build's outputs look up to date, so that the command builds nothing. */
  void markAsBuilt() throws IOException {
    Path jar = checkout.resolve("tools/target/heddle-tools.jar");
    Files.createDirectories(jar.getParent());
    Files.createSymbolicLink(jar, BuildOutputs.tools());
    Path stamp = checkout.resolve(".build/built");
    Files.createDirectories(stamp.getParent());
    boolean extra = Files.exists(Path.of("/usr/include/infiniband/verbs.h"));
    Files.writeString(stamp, extra ? "libibverbs-dev\n" : "\n");
  }

  /* Creates programs in place of the build's requirements, and this script in place of Maven. */
  void buildBy(String maven) throws IOException {
    for (String tool : List.of("cmake", "cc", "make", "python3")) {
      program(tool, "");
    }
    program("mvn", maven);
  }

  HostProcess start(String... arguments) throws IOException {
    return startUnder(List.of(), arguments);
  }

  HostProcess startUnder(List<String> environment, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("env", "-i", "PATH=" + programs, "HOME=" + folder));
    command.addAll(environment);
    command.add("HEDDLE_JAVA_HOME=" + System.getProperty("java.home"));
    command.add(checkout.resolve("heddle").toString());
    command.addAll(List.of(arguments));
    return HostProcess.start(command, folder.resolve("said"), Map.of());
  }

  String output(int exitCode, String... arguments) throws Exception {
    try (HostProcess process = start(arguments)) {
      assertEquals(exitCode, process.exitCode(60), process.output());
      return process.output();
    }
  }

  String installRequests() throws IOException {
    return Files.exists(requestFile) ? Files.readString(requestFile) : "";
  }

  void watchInstallations() throws IOException {
    if (!System.getProperty("user.name").equals("root")) {
      Skip.because("only root installs packages");
    }
    program("apt-get", "echo \"$@\" >>'" + requestFile + "'\nexit 100\n");
  }
}
