package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tests of the C code for arm64. It is cross-compiled here, its own tests run in user-mode
 * emulation, and {@code ./heddle dist --arch aarch64} packages it.
 */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(300)
@SystemTest
final class Arm64Test {
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
  private static final Path SHIM = REPOSITORY.resolve("native/target/aarch64");
  private static final Path DRIVERS = REPOSITORY.resolve("perf-tests/target/aarch64");
  private static final String OBJDUMP = "aarch64-linux-gnu-objdump";
  /* Offset of the machine field in an ELF header, and its value for arm64. */
  private static final int MACHINE_AT = 18;
  private static final int AARCH64 = 183;
  /* Minor version of RHEL 8's glibc, 2.28. */
  private static final int GLIBC_OF_2018 = 28;
  private static final Pattern GLIBC_VERSION = Pattern.compile("GLIBC_2\\.([0-9]+)");
  private static final String JAVA = System.getProperty("java.home");

  @TempDir private static Path made;
  private static Path bundle;
  @TempDir private Path folder;

  /** Exit code and output of a command. */
  private record End(int code, String output) {}

  @BeforeAll
  static void makeThePackages() throws Exception {
    if (System.getProperty("os.arch").equals("aarch64")) {
      Skip.because("this is arm64: the other tests are about it");
    }
    for (String tool :
        List.of("zstd", "dpkg-deb", "cmake", "aarch64-linux-gnu-gcc", OBJDUMP, "qemu-aarch64")) {
      if (Stream.of(System.getenv("PATH").split(":"))
          .noneMatch(each -> Files.isExecutable(Path.of(each, tool)))) {
        Skip.because(
            "no "
                + tool
                + " here: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
                + " zstd");
      }
    }
    BuildOutputs.plugin();
    End dist = dist(made);
    assertEquals(0, dist.code(), dist.output());
    bundle = unpack(made, made.resolve("unpacked"));
  }

  private static End dist(Path output, String... options) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(REPOSITORY.resolve("packaging/dist.sh").toString());
    command.addAll(List.of("--arch", "aarch64"));
    command.addAll(List.of(options));
    command.addAll(List.of(JAVA, output.toString()));
    return end(command, Map.of());
  }

  private static End end(List<String> command, Map<String, String> environment) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new End(process.waitFor(), said);
  }

  private static Path file(Path output, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(output)) {
      return files.filter(each -> each.toString().endsWith(suffix)).findFirst().orElseThrow();
    }
  }

  private static Path unpack(Path output, Path where) throws Exception {
    Files.createDirectories(where);
    String archive = file(output, "-linux-aarch64.tar.zst").toString();
    BareRoot.run(List.of("tar", "-C", where.toString(), "-xf", archive));
    try (Stream<Path> files = Files.list(where)) {
      return files.findFirst().orElseThrow();
    }
  }

  private static void emulated(Path build, int least, String... targets) throws Exception {
    List<String> command =
        new ArrayList<>(List.of("cmake", "--build", build.toString(), "--target"));
    command.addAll(List.of(targets));
    BareRoot.run(command);
    String said =
        BareRoot.run(
            List.of(
                "ctest",
                "--test-dir",
                build.toString(),
                "--label-regex",
                "emulated",
                "--output-on-failure"));
    assertTrue(said.contains("100% tests passed, 0 tests failed out of " + least), said);
  }

  @Test
  void shimsCTestsPass() throws Exception {
    emulated(SHIM, 5, "packets", "socket_calls", "core_calls", "bad_start");
    String packets =
        BareRoot.run(
            List.of(
                "qemu-aarch64",
                "-L",
                "/usr/aarch64-linux-gnu",
                /* Kernels for NVIDIA Grace often have pages of 64 KiB. */
                "-p",
                "65536",
                SHIM.resolve("packets").toString(),
                "1",
                "2"));
    assertTrue(packets.contains("ok: 2 variants of the calls"), packets);
  }

  @Test
  void driversCTestsPass() throws Exception {
    emulated(DRIVERS, 2, "chaos-buffers-test", "tcp-pending-test");
  }

  @Test
  void everyProgramAndLibraryIsForArm64() throws Exception {
    int found = 0;
    try (Stream<Path> files = Files.list(bundle.resolve("lib"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        byte[] begin;
        try (var stream = Files.newInputStream(file)) {
          begin = stream.readNBytes(MACHINE_AT + 2);
        }
        if (begin.length > MACHINE_AT && begin[0] == 0x7f && begin[1] == 'E') {
          found++;
          assertEquals(AARCH64, begin[MACHINE_AT] & 0xff, file.toString());
        }
      }
    }
    assertTrue(found >= 2, found + " programs and libraries");
  }

  @Test
  void theLibraryLoadsOnGlibcOf2018() throws Exception {
    Path library = bundle.resolve("lib/libnccl-net-heddle.so");
    String symbols = BareRoot.run(List.of(OBJDUMP, "-T", library.toString()));
    List<Integer> versions =
        GLIBC_VERSION
            .matcher(symbols)
            .results()
            .map((MatchResult each) -> Integer.valueOf(each.group(1)))
            .distinct()
            .toList();
    assertTrue(versions.contains(17), symbols);
    assertTrue(versions.stream().allMatch(each -> each <= GLIBC_OF_2018), symbols);
    assertTrue(symbols.contains("ncclNetPlugin_v12"), symbols);
  }

  @Test
  void packetVariantsAreArm64s() throws Exception {
    Path library = bundle.resolve("lib/libnccl-net-heddle.so");
    String code = BareRoot.run(List.of(OBJDUMP, "-d", "--no-show-raw-insn", library.toString()));
    for (String instruction : List.of("pmull2", "crc32x", "dmb")) {
      assertTrue(
          Arrays.stream(code.split("\n"))
              .anyMatch(line -> line.contains("\t" + instruction + "\t")),
          "no " + instruction + " in " + library);
    }
  }

  @Test
  void debianPackageNamesArchitecture() throws Exception {
    String fields = BareRoot.run(List.of("dpkg-deb", "-f", file(made, "_arm64.deb").toString()));
    assertTrue(fields.contains("\nArchitecture: arm64\n"), fields);
    assertTrue(fields.contains("temurin-25-jre"), fields);
    Path root = Files.createDirectories(folder.resolve("root"));
    BareRoot.run(List.of("dpkg-deb", "-x", file(made, ".deb").toString(), root.toString()));
    assertTrue(
        Files.isSameFile(
            root.resolve("usr/lib/heddle/libnccl-net-heddle.so"),
            root.resolve("usr/lib/aarch64-linux-gnu/libnccl-net-heddle.so")));
    End version =
        end(
            List.of(root.resolve("usr/bin/heddle").toString(), "version"),
            Map.of("HEDDLE_JAVA_HOME", JAVA));
    assertEquals(0, version.code(), version.output());
  }

  @Test
  void packageWithoutRuntimeUsesHostsJavaOrReportsNone() throws Exception {
    List<String> command = List.of(bundle.resolve("bin/heddle").toString(), "version");
    for (Map<String, String> environment :
        List.of(
            Map.of("HEDDLE_JAVA_HOME", JAVA),
            Map.of("HEDDLE_JAVA_HOME", "", "JAVA_HOME", JAVA),
            Map.of(
                "HEDDLE_JAVA_HOME",
                "",
                "JAVA_HOME",
                "/nowhere",
                "PATH",
                JAVA + "/bin:" + System.getenv("PATH")))) {
      End version = end(command, environment);
      assertEquals(0, version.code(), version.output());
      assertTrue(version.output().contains(" at " + JAVA), version.output());
    }
    End none = end(command, Map.of("HEDDLE_JAVA_HOME", "/nowhere"));
    assertEquals(1, none.code(), none.output());
    assertTrue(none.output().contains("no Java of version 25 or later here"), none.output());
  }

  @Test
  void aRuntimeForAnotherMachineIsRefused() throws Exception {
    End other = dist(folder, "--runtime", JAVA);
    assertNotEquals(0, other.code(), other.output());
    assertTrue(
        other.output().contains("is a Java for Advanced Micro Devices X86-64"), other.output());
    End nothing = dist(folder, "--runtime", folder.toString());
    assertTrue(
        nothing.output().contains("is no Java runtime: it has no release"), nothing.output());
    Path old = standIn(folder.resolve("old"), "21.0.2", "java.base");
    End tooOld = dist(folder, "--runtime", old.toString());
    assertTrue(tooOld.output().contains("is Java 21.0.2; 25 or later is needed"), tooOld.output());
  }

  /*
   * Creates files that look like a Java runtime for arm64 but can't run, since no such runtime is
   * available here.
   */
  private static Path standIn(Path where, String version, String modules) throws Exception {
    for (String each : List.of("bin", "lib/server", "conf/security")) {
      Files.createDirectories(where.resolve(each));
    }
    Files.writeString(
        where.resolve("release"),
        "JAVA_VERSION=\"" + version + "\"\nMODULES=\"" + modules + "\"\nOS_ARCH=\"aarch64\"\n");
    Files.copy(SHIM.resolve("libnccl-net-heddle.so"), where.resolve("lib/server/libjvm.so"));
    Files.writeString(where.resolve("conf/security/java.security"), "");
    Files.writeString(where.resolve("lib/src.zip"), "sources");
    Files.copy(Path.of("/bin/true"), where.resolve("bin/java"));
    return where;
  }

  @Test
  @WholeRunOnly
  void givenRuntimeIsIncludedIfItHasTheModules() throws Exception {
    Path bare = standIn(folder.resolve("bare"), "25.0.1", "java.base");
    End lacks = dist(folder, "--runtime", bare.toString());
    assertTrue(lacks.output().contains("lacks the modules "), lacks.output());
    String all = BareRoot.run(List.of(JAVA + "/bin/java", "--list-modules"));
    String modules = all.replaceAll("@\\S+", "").strip().replace('\n', ' ');
    Path whole = standIn(folder.resolve("whole"), "25.0.1", modules);
    End dist = dist(folder, "--runtime", whole.toString());
    assertEquals(0, dist.code(), dist.output());
    Path lib = unpack(folder, folder.resolve("unpacked")).resolve("lib");
    assertTrue(Files.exists(lib.resolve("runtime/lib/server/libjvm.so")));
    assertTrue(Files.exists(lib.resolve("runtime/conf/security/java.security")));
    assertTrue(Files.isExecutable(lib.resolve("runtime/bin/java")));
    assertTrue(Files.notExists(lib.resolve("runtime/lib/src.zip")));
    assertTrue(Files.notExists(lib.resolve("takes-java-of-host")));
    String fields = BareRoot.run(List.of("dpkg-deb", "-f", file(folder, ".deb").toString()));
    assertTrue(fields.contains("its own Java runtime"), fields);
  }
}
