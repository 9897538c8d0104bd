package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@code ./heddle}: progress messages, error messages, and installation of packages. */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(120)
@SystemTest
final class LauncherTest extends StubbedCheckout {
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
