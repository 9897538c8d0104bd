package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of {@code ./heddle} in a checkout that has only scripts: progress messages, error messages,
 * and installation of packages. Maven and apt-get are scripts that record their arguments, and PATH
 * has only the command's requirements.
 */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(120)
@SystemTest
final class LauncherTest {
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

  @TempDir private Path folder;
  private Path checkout;
  private Path programs;
  private Path requestFile;

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

  private static Path find(String tool) {
    return Stream.of((System.getenv("PATH") + ":/usr/sbin:/sbin").split(":"))
        .map(each -> Path.of(each, tool))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + tool));
  }

  private void program(String name, String script) throws IOException {
    Path file = programs.resolve(name);
    Files.deleteIfExists(file);
    Files.writeString(file, "#!/bin/sh\n" + script);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /* Makes the build's outputs look up to date, so that the command builds nothing. */
  private void markAsBuilt() throws IOException {
    Path jar = checkout.resolve("tools/target/heddle-tools.jar");
    Files.createDirectories(jar.getParent());
    Files.createSymbolicLink(jar, BuildOutputs.tools());
    Path stamp = checkout.resolve(".build/built");
    Files.createDirectories(stamp.getParent());
    boolean extra = Files.exists(Path.of("/usr/include/infiniband/verbs.h"));
    Files.writeString(stamp, extra ? "libibverbs-dev\n" : "\n");
  }

  /* Creates programs in place of the build's requirements, and this script in place of Maven. */
  private void buildBy(String maven) throws IOException {
    for (String tool : List.of("cmake", "cc", "make", "python3")) {
      program(tool, "");
    }
    program("mvn", maven);
  }

  private HostProcess start(String... arguments) throws IOException {
    return startUnder(List.of(), arguments);
  }

  private HostProcess startUnder(List<String> environment, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("env", "-i", "PATH=" + programs, "HOME=" + folder));
    command.addAll(environment);
    command.add("HEDDLE_JAVA_HOME=" + System.getProperty("java.home"));
    command.add(checkout.resolve("heddle").toString());
    command.addAll(List.of(arguments));
    return HostProcess.start(command, folder.resolve("said"), Map.of());
  }

  private String output(int exitCode, String... arguments) throws Exception {
    try (HostProcess process = start(arguments)) {
      assertEquals(exitCode, process.exitCode(60), process.output());
      return process.output();
    }
  }

  private String installRequests() throws IOException {
    return Files.exists(requestFile) ? Files.readString(requestFile) : "";
  }

  private void watchInstallations() throws IOException {
    if (!System.getProperty("user.name").equals("root")) {
      Skip.because("only root installs packages");
    }
    program("apt-get", "echo \"$@\" >>'" + requestFile + "'\nexit 100\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lab upp",
        "lab up --plaines 2",
        "lab up --help",
        "demo --kill-plane",
        "soak --runs many",
        "soak --help",
        "bench --onyl x",
        "demo --fabrik",
        "help"
      })
  void installsNothingForInvalidCommandLine(String line) throws Exception {
    watchInstallations();
    markAsBuilt();
    boolean isText = line.endsWith("help");
    String said = output(isText ? 0 : 2, line.split(" "));
    assertEquals("", installRequests(), said);
    assertTrue(isText || said.contains("--help"), said);
  }

  @ParameterizedTest
  @ValueSource(strings = {"soak --runs 1", "demo --kill-plane 1@1:2", "lab up", "demo --fabric"})
  void installsRequirementsBeforeRun(String line) throws Exception {
    watchInstallations();
    markAsBuilt();
    String said = output(1, line.split(" "));
    assertTrue(
        installRequests().contains(" install ") && installRequests().contains("nftables"),
        installRequests());
    assertTrue(said.contains("heddle: can't install "), said);
  }

  @ParameterizedTest
  @ValueSource(strings = {"soak --runs 1", "demo --kill-plane 1@1:2"})
  void reportsUninstallablePackagesBeforeRun(String line) throws Exception {
    markAsBuilt();
    String said = output(1, line.split(" "));
    assertTrue(
        said.contains("; missing: nft, tc; install with: apt-get install nftables iproute2"), said);
    assertFalse(said.contains("# heddle"), said);
  }

  /*
   * Returns an archive that the command downloads as the JDK of Temurin. Its programs are scripts.
   */
  private byte[] archiveOfJdk() throws Exception {
    Path jdk = folder.resolve("archive/jdk-25");
    Files.createDirectories(jdk.resolve("bin"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.4\"\n");
    for (String name : List.of("java", "javac")) {
      Path file = Files.writeString(jdk.resolve("bin").resolve(name), "#!/bin/sh\nexit 0\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    Path archive = folder.resolve("jdk.tar.gz");
    Process tar =
        new ProcessBuilder("tar", "-czf", archive.toString(), "-C", folder + "/archive", "jdk-25")
            .inheritIO()
            .start();
    assertEquals(0, tar.waitFor());
    return Files.readAllBytes(archive);
  }

  private void pinTheJdk(String address, String sha256) throws IOException {
    Path script = checkout.resolve("config/jdk.sh");
    String pinned =
        Files.readString(script)
            .replaceFirst("jdk_address=.*", "jdk_address=" + address)
            .replaceAll("(\\[(?:x86_64|aarch64)]=)[0-9a-f]{64}", "$1" + sha256);
    Files.writeString(script, pinned);
  }

  private static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  /*
   * Runs the command where /usr/lib/jvm and similar folders are empty, and the environment names no
   * JDK.
   */
  private String outputWithoutJdk(int exitCode, String... arguments) throws Exception {
    for (String tool : List.of("curl", "sha256sum", "tar", "gzip", "grep")) {
      program(tool, "exec " + find(tool) + " \"$@\"\n");
    }
    buildBy("exit 0\n");
    List<String> command =
        new ArrayList<>(
            MountNamespace.with("mount -t tmpfs none /usr/lib/jvm; mount -t tmpfs none /opt"));
    command.addAll(List.of("env", "-i", "PATH=" + programs, "HOME=" + folder));
    command.add(checkout.resolve("heddle").toString());
    command.addAll(List.of(arguments));
    try (HostProcess process = HostProcess.start(command, folder.resolve("jdk-said"), Map.of())) {
      assertEquals(exitCode, process.exitCode(60), process.output());
      return process.output();
    }
  }

  /* Serves these bytes under every URL, with this Content-Length. */
  private static HttpServer serve(byte[] bytes, int length) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    return server;
  }

  private String download(byte[] served, int length, String sha256, int exitCode, String... words)
      throws Exception {
    MountNamespace.orSkip();
    HttpServer server = serve(served, length);
    try {
      pinTheJdk("http://127.0.0.1:" + server.getAddress().getPort(), sha256);
      return outputWithoutJdk(exitCode, words);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void downloadsJdkIfNoneIsInstalled() throws Exception {
    byte[] archive = archiveOfJdk();
    String said = download(archive, archive.length, sha256(archive), 0, "build");
    assertTrue(said.contains("no JDK 25 found; downloading Temurin 25"), said);
    assertTrue(Files.isExecutable(checkout.resolve(".build/jdk/bin/javac")), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk.tar.gz")), said);
  }

  @Test
  void deletesJdkWithWrongChecksum() throws Exception {
    byte[] archive = archiveOfJdk();
    String said = download(archive, archive.length, "0".repeat(64), 1, "build");
    assertTrue(said.contains("is not Temurin's: its SHA-256 is " + sha256(archive)), said);
    assertTrue(said.contains("no JDK 25 or later found: install"), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk")), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk.tar.gz")), said);
  }

  @Test
  void deletesTruncatedJdk() throws Exception {
    byte[] archive = archiveOfJdk();
    byte[] half = Arrays.copyOf(archive, archive.length / 2);
    String said = download(half, archive.length, sha256(archive), 1, "build");
    assertTrue(said.contains("heddle: the download failed"), said);
    assertTrue(said.contains("no JDK 25 or later found: install"), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk.tar.gz")), said);
  }

  @Test
  void offlineCommandDownloadsNoJdk() throws Exception {
    byte[] archive = archiveOfJdk();
    String said = download(archive, archive.length, sha256(archive), 1, "--offline", "build");
    assertTrue(said.contains("--offline was given"), said);
    assertTrue(said.contains("no JDK 25 or later found: install"), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk")), said);
  }

  @Test
  void buildContinuesWithoutOutputReader() throws Exception {
    buildBy(
        """
        for i in 1 2 3 4 5 6 7 8 9; do
          echo "[INFO] Building Heddle part$i 0.1.0     [$i/9]"
          sleep 0.1
        done
        echo done >'%s'
        """
            .formatted(folder.resolve("built")));
    List<String> command =
        List.of(
            "bash", "-c", "\"$0\" build 2>&1 | head -n 1", checkout.resolve("heddle").toString());
    Map<String, String> environment =
        Map.of("HEDDLE_JAVA_HOME", System.getProperty("java.home"), "PATH", programs.toString());
    try (HostProcess process = HostProcess.start(command, folder.resolve("headed"), environment)) {
      process.exitCode(60);
    }
    assertTrue(Files.exists(folder.resolve("built")));
    assertTrue(Files.exists(checkout.resolve(".build/built")));
  }

  @Test
  void doctorIgnoresAndNamesOptionsForOtherJavaPrograms() throws Exception {
    markAsBuilt();
    List<String> environment =
        List.of(
            "JAVA_TOOL_OPTIONS=-XX:+UseG1GC",
            "_JAVA_OPTIONS=-javaagent:/nowhere.jar",
            "JDK_JAVA_OPTIONS=-XX:+NoSuchFlag");
    try (HostProcess doctor = startUnder(environment, "doctor", "--all")) {
      int exitCode = doctor.exitCode(60);
      String said = doctor.output();
      assertTrue(
          said.contains("JAVA_TOOL_OPTIONS, _JAVA_OPTIONS, JDK_JAVA_OPTIONS are set for other"),
          said);
      assertFalse(said.contains("Picked up"), said);
      assertTrue(exitCode <= 2, said);
    }
  }

  @Test
  void buildShowsModulesAndWritesLog() throws Exception {
    Path goOn = folder.resolve("go-on");
    buildBy(
        """
        echo '[INFO] Scanning for projects...'
        echo 'Downloaded from central: https://repo/one.jar (1 kB at 1 kB/s)'
        echo '[INFO] Building Heddle platform 0.1.0                             [2/16]'
        while ! [ -e '%s' ]; do sleep 0.1; done
        echo '[INFO] Building Heddle verbs 0.1.0                                [3/16]'
        """
            .formatted(goOn));
    try (HostProcess build = start("build")) {
      build.awaitOutput("heddle: 2 of 16: Heddle platform (", 60);
      String log = Files.readString(checkout.resolve(".build/build.log"));
      assertTrue(log.contains("Building Heddle platform"), log);
      assertFalse(build.output().contains("verbs"), build.output());
      build.awaitOutput("platform, 1 files downloaded (", 60);
      Files.createFile(goOn);
      assertEquals(0, build.exitCode(60), build.output());
      assertTrue(build.output().contains("heddle: 3 of 16: Heddle verbs ("), build.output());
    }
  }

  @Test
  void progressUsesOneLineOnTerminal() throws Exception {
    Path script = Path.of("/usr/bin/script");
    if (!Files.isExecutable(script)) {
      Skip.because("no script(1), which makes a terminal");
    }
    Path lines = folder.resolve("lines");
    Files.writeString(
        lines,
        "[INFO] Building Heddle platform 0.1.0    [2/16]\n"
            + "[INFO] Building Heddle verbs 0.1.0    [3/16]\n");
    String command =
        ". '%s'; show_progress <'%s'"
            .formatted(checkout.resolve("config/build-progress.sh"), lines);
    String seen =
        BareRoot.run(
            List.of(script.toString(), "-qec", "bash -c \"" + command + "\"", "/dev/null"));
    assertTrue(seen.contains("\r\u001b[Kheddle: 3 of 16: Heddle verbs, "), seen);
    assertTrue(seen.endsWith("\r\u001b[K"), "it clears its line");
    assertFalse(seen.contains("\n"), seen);
  }

  private String failure(String log) throws Exception {
    buildBy(
        "cat <<'LOG'\n"
            + log.replace("@ROOT@", checkout.toRealPath().toString())
            + "LOG\nexit 1\n");
    String said = output(1, "build");
    String words = said.substring(said.indexOf('\n') + 1);
    String end =
        "heddle: the build failed; full log: " + checkout.toRealPath() + "/.build/build.log\n";
    assertTrue(words.endsWith(end), said);
    return words.substring(0, words.length() - end.length());
  }

  @Test
  void javaErrorIsOneLineWithPosition() throws Exception {
    assertEquals(
        "platform/src/main/java/io/heddle/platform/Errno.java:12: ';' expected\n",
        failure(
            """
            [INFO] Compiling 42 source files with javac [debug release 25] to target/classes
            [ERROR] COMPILATION ERROR :
            [INFO] -------------------------------------------------------------
            [ERROR] @ROOT@/platform/src/main/java/io/heddle/platform/Errno.java:[12,27] ';' expected
            [INFO] 1 error
            [ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.16.0:compile \
            (default-compile) on project heddle-platform: Compilation failure
            [ERROR] @ROOT@/platform/src/main/java/io/heddle/platform/Errno.java:[12,27] ';' expected
            [ERROR] -> [Help 1]
            [ERROR]
            [ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
            """));
  }

  @Test
  void cErrorsAreLinesWithPositions() throws Exception {
    assertEquals(
        "native/src/core.c:1:12: error: initialization of 'int' from 'char *'\n"
            + "native/src/core.c:2:9: error: expected ';' before 'typedef'\n",
        failure(
            """
            [ 14%] Building C object CMakeFiles/net.dir/src/core.c.o
            @ROOT@/native/src/core.c:1:12: error: initialization of 'int' from 'char *'
                1 | int oops = "no";
            @ROOT@/native/src/core.c:2:9: error: expected ';' before 'typedef'
            make[2]: *** [CMakeFiles/net.dir/build.make:76: CMakeFiles/net.dir/src/core.c.o] Error 1
            [ERROR] Command execution failed.
            org.apache.commons.exec.ExecuteException: Process exited with an error: 2 (Exit value: 2)
                at org.apache.commons.exec.DefaultExecutor.executeInternal (DefaultExecutor.java:355)
            [ERROR] Failed to execute goal org.codehaus.mojo:exec-maven-plugin:3.6.4:exec (build) on project \
            heddle-native: Command execution failed. Process exited with an error: 2 (Exit value: 2) -> [Help 1]
            """));
  }

  @Test
  void unavailableArtifactIsOneLineWithReason() throws Exception {
    assertEquals(
        "could not transfer artifact org.junit:junit-bom:pom:5.14.4 from/to central (https://repo):"
            + " Connect to repo:443 failed: Connection refused\n",
        failure(
            """
            [ERROR] [ERROR] Some problems were encountered while processing the POMs:
            [ERROR] Non-resolvable import POM: Could not transfer artifact org.junit:junit-bom:pom:5.14.4 from/to \
            central (https://repo)
            [ERROR] 'dependencies.dependency.version' for org.junit.jupiter:junit-jupiter:jar is missing. @ line 138, \
            column 17
            [ERROR] The build could not read 1 project -> [Help 1]
            [ERROR]     Non-resolvable import POM: Could not transfer artifact org.junit:junit-bom:pom:5.14.4 from/to \
            central (https://repo): Connect to repo:443 failed: Connection refused -> [Help 2]
            """));
  }

  @Test
  void namesFullAndReadOnlyDisks() throws Exception {
    assertEquals(
        "heddle-platform: Error while storing the mojo status: No space left on device\n",
        failure(
            """
            [ERROR] @ROOT@/platform/src/main/java/io/heddle/platform/Errno.java:[1,1] error while writing Errno
            [ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.16.0:compile \
            (default-compile) on project heddle-platform: Error while storing the mojo status: No space left on \
            device -> [Help 1]
            """));
    assertEquals(
        "CMake Error at CMakeDetermineSystem.cmake:180 (file): file failed to open for writing"
            + " (Read-only file system)\n",
        failure(
            """
            CMake Error at CMakeDetermineSystem.cmake:180 (file):
              file failed to open for writing (Read-only file system):

                @ROOT@/native/target/build/CMakeFiles/CMakeOutput.log
            CMake Error at CMakeDetermineCompilerABI.cmake:57 (try_compile):
              Unknown extension ".c" for file
            [ERROR] Command execution failed.
            """));
  }

  @Test
  void unwritableCheckoutIsRefusedInOneLine() throws Exception {
    if (!System.getProperty("user.name").equals("root")) {
      Skip.because("a read-only mount needs root");
    }
    buildBy("exit 1\n");
    List<String> command =
        List.of(
            "unshare",
            "--mount",
            "sh",
            "-c",
            "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec env -i"
                + " PATH=\"$1\" HEDDLE_JAVA_HOME=\"$2\" \"$0/heddle\" build",
            checkout.toString(),
            programs.toString(),
            System.getProperty("java.home"));
    try (HostProcess process = HostProcess.start(command, folder.resolve("refused"), Map.of())) {
      assertEquals(1, process.exitCode(60));
      assertEquals(
          "heddle: can't build here: this user can't write to "
              + checkout.toRealPath()
              + ", or it is read-only\n",
          process.output());
    }
  }
}
