package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tests of the packages of {@code ./heddle dist}, in root folders that have little more than a C
 * library.
 */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(300)
final class PackagesTest {
  private static final long MOST_BYTES = 60_000_000;
  /* Minor version of RHEL 8's glibc, 2.28; Ubuntu 20.04 has 2.31. */
  private static final int GLIBC_OF_2018 = 28;
  private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
  private static final Pattern GLIBC_VERSION = Pattern.compile("GLIBC_2\\.([0-9]+)");
  private static final Pattern RELATIVE_LINK =
      Pattern.compile("]\\((?![a-z]+:|#)([^)#\\s]+)[^)]*\\)");
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();

  @TempDir private static Path made;
  @TempDir private Path folder;

  @BeforeAll
  static void makeThePackages() throws IOException, InterruptedException {
    for (String tool : List.of("zstd", "dpkg-deb", "strip", "objdump")) {
      if (Stream.of(System.getenv("PATH").split(":"))
          .noneMatch(each -> Files.isExecutable(Path.of(each, tool)))) {
        Skip.because("packages can't be made without " + tool);
      }
    }
    BuildOutputs.plugin();
    makeIn(made);
  }

  private static void makeIn(Path output) throws IOException, InterruptedException {
    BareRoot.run(
        List.of(
            REPOSITORY.resolve("packaging/dist.sh").toString(),
            System.getProperty("java.home"),
            output.toString()));
  }

  private static Path file(Path output, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(output)) {
      return files.filter(each -> each.toString().endsWith(suffix)).findFirst().orElseThrow();
    }
  }

  private static Path unpackBundle(Path where) throws IOException, InterruptedException {
    Files.createDirectories(where);
    BareRoot.run(List.of("tar", "-C", where.toString(), "-xf", file(made, ".tar.zst").toString()));
    try (Stream<Path> files = Files.list(where)) {
      return files.findFirst().orElseThrow();
    }
  }

  @Test
  @WholeRunOnly
  @SystemTest
  void secondBuildElsewhereIsIdentical() throws Exception {
    makeIn(folder);
    for (String suffix : List.of(".tar.zst", ".deb")) {
      Path first = file(made, suffix);
      assertEquals(-1, Files.mismatch(first, file(folder, suffix)), suffix + " differs at");
      assertTrue(Files.size(first) <= MOST_BYTES, first + " has " + Files.size(first) + " bytes");
    }
  }

  @Test
  @SystemTest
  void theLibraryLoadsOnGlibcOf2018() throws Exception {
    Path bundle = unpackBundle(folder);
    Path library = bundle.resolve("lib/libnccl-net-heddle.so");
    Process objdump =
        new ProcessBuilder("objdump", "-T", library.toString()).redirectErrorStream(true).start();
    String symbols = new String(objdump.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, objdump.waitFor(), symbols);
    List<String> newer =
        GLIBC_VERSION
            .matcher(symbols)
            .results()
            .filter(each -> Integer.parseInt(each.group(1)) > GLIBC_OF_2018)
            .map(MatchResult::group)
            .distinct()
            .toList();
    assertTrue(symbols.contains(ARM ? "GLIBC_2.17" : "GLIBC_2.2.5"), symbols);
    assertEquals(List.of(), newer, symbols);
  }

  @Test
  void allReducePassesOnBareHosts() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    BareRoot root = BareRoot.in(folder.resolve("root"));
    Path bundle = unpackBundle(root.path().resolve("opt"));
    root.copyLibrariesBelow(bundle);
    String lib = "/opt/" + bundle.getFileName() + "/lib/";
    List<HostProcess> ranks = new ArrayList<>();
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 4, 9000))) {
      try {
        for (int rank = 0; rank < 2; rank++) {
          List<String> reduce =
              List.of(
                  lib + "heddle-allreduce",
                  "--plugin",
                  lib + "libnccl-net-heddle.so",
                  "--rank",
                  Integer.toString(rank),
                  "--ranks",
                  "2",
                  "--rendezvous",
                  "/tmp",
                  "--min-bytes",
                  "8",
                  "--max-bytes",
                  "4194304",
                  "--iterations",
                  "3",
                  "--timeout-seconds",
                  "60");
          List<String> settings =
              lab.environment(rank).entrySet().stream()
                  .map(each -> each.getKey() + "=" + each.getValue())
                  .toList();
          ranks.add(
              HostProcess.start(
                  lab,
                  rank,
                  folder.resolve("rank-" + rank + ".log"),
                  Map.of(),
                  root.command(settings, reduce)));
        }
        for (HostProcess rank : ranks) {
          assertEquals(0, rank.exitCode(120), rank::outputOrWhyNot);
          assertTrue(
              rank.output().contains(", by its place beside the plugin, class archive"),
              rank.output());
        }
      } finally {
        for (HostProcess rank : ranks) {
          rank.close();
        }
      }
    }
  }

  @Test
  @SystemTest
  void classArchiveIsUsedInAnyFolder() throws Exception {
    Path bundle = unpackBundle(folder.resolve("a folder\twith blanks"));
    Path classes = folder.resolve("classes.log");
    Path plugin = bundle.resolve("lib/libnccl-net-heddle.so");
    Path log = folder.resolve("host.log");
    Map<String, String> environment =
        Map.of(
            "HEDDLE_PROVIDER",
            "soft",
            "HEDDLE_PLANES",
            "127.0.0.1=loopback",
            "HEDDLE_JAVA_HOME",
            "",
            "HEDDLE_JVM_OPTIONS",
            "-Xlog:class+load:file=" + classes);
    try (HostProcess process =
        HostProcess.start(
            List.of(
                bundle.resolve("lib/heddle-allreduce").toString(),
                "--plugin",
                plugin.toString(),
                "--rank",
                "0",
                "--ranks",
                "2",
                "--rendezvous",
                folder.toString(),
                /*
                 * The rank's peer never starts, so the rank waits and the plugin's warm-up has the
                 * cores for itself.
                 */
                "--timeout-seconds",
                "600"),
            log,
            environment)) {
      process.awaitOutput("warmed up with", 60);
    }
    List<String> ours =
        Files.readAllLines(classes).stream().filter(line -> line.contains(" io.heddle.")).toList();
    long archived = ours.stream().filter(line -> line.contains("shared objects file")).count();
    assertTrue(ours.size() > 100, "only " + ours.size() + " classes of Heddle were loaded");
    assertTrue(
        archived * 100 >= ours.size() * 95L,
        () ->
            "packaging/plugin.classes is stale (packaging/record-classes.sh renews it): of "
                + ours.size()
                + " classes these weren't archived:\n"
                + String.join(
                    "\n",
                    ours.stream().filter(line -> !line.contains("shared objects file")).toList()));
  }

  @Test
  @SystemTest
  void theDebianPackageRunsOnABareMachine() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    BareRoot root = BareRoot.in(folder.resolve("root"));
    BareRoot.run(List.of("dpkg-deb", "-x", file(made, ".deb").toString(), root.path().toString()));
    root.copyLibrariesBelow(root.path().resolve("usr/lib/heddle"));
    Files.copy(
        Path.of("/usr/bin/readlink"),
        root.path().resolve("bin/readlink"),
        StandardCopyOption.COPY_ATTRIBUTES);
    root.copyLibrariesOf(root.path().resolve("bin/readlink"));
    List<String> environment = List.of("HEDDLE_PLANES=127.0.0.1=loopback");
    String planes = BareRoot.run(root.command(environment, List.of("/usr/bin/heddle", "planes")));
    assertTrue(planes.contains("plane:loopback"), planes);
    assertTrue(
        Files.isSameFile(
            root.path().resolve("usr/lib/heddle/libnccl-net-heddle.so"),
            root.path()
                .resolve("usr/lib")
                .resolve(ARM ? "aarch64-linux-gnu" : "x86_64-linux-gnu")
                .resolve("libnccl-net-heddle.so")),
        "NCCL_NET_PLUGIN=heddle finds the plugin");
    String unit =
        Files.readString(root.path().resolve("usr/lib/systemd/system/heddle-bgp.service"));
    assertTrue(unit.contains("ExecStart=/usr/bin/heddle bgp run"), unit);
    String exporter =
        Files.readString(root.path().resolve("usr/lib/systemd/system/heddle-exporter.service"));
    assertTrue(exporter.contains("ExecStart=/usr/bin/heddle exporter"), exporter);
    String bridge =
        Files.readString(root.path().resolve("usr/lib/systemd/system/heddle-bridge.service"));
    assertTrue(bridge.contains("ExecStart=/usr/bin/heddle bridge run"), bridge);
    assertTrue(Files.exists(root.path().resolve("usr/lib/sysusers.d/heddle.conf")));
  }

  @Test
  @SystemTest
  void installationCreatesServiceUsers() throws Exception {
    if (!Files.isExecutable(Path.of("/usr/bin/systemd-sysusers"))) {
      Skip.because("no systemd-sysusers here: apt-get install systemd");
    }
    Path control = folder.resolve("control");
    BareRoot.run(List.of("dpkg-deb", "-e", file(made, ".deb").toString(), control.toString()));
    String script = Files.readString(control.resolve("postinst"));
    assertTrue(script.contains("systemd-sysusers heddle.conf"), script);
    Path root = Files.createDirectories(folder.resolve("root"));
    BareRoot.run(List.of("dpkg-deb", "-x", file(made, ".deb").toString(), root.toString()));
    /* systemd-sysusers needs this folder for its lock file. */
    Files.createDirectories(root.resolve("etc"));
    BareRoot.run(
        List.of(
            "systemd-sysusers",
            "--root=" + root,
            root.resolve("usr/lib/sysusers.d/heddle.conf").toString()));
    String users = Files.readString(root.resolve("etc/passwd"));
    assertTrue(users.contains("\nheddle:") || users.startsWith("heddle:"), users);
    assertTrue(users.contains("\nheddle-bridge:"), users);
  }

  @Test
  @SystemTest
  void runtimeHasExportersModules() throws Exception {
    Path bundle = unpackBundle(folder.resolve("unpacked"));
    try (HostProcess exporter =
        HostProcess.start(
            List.of(
                bundle.resolve("bin/heddle").toString(),
                "exporter",
                "--listen",
                "127.0.0.1:0",
                "--stats",
                folder.toString()),
            folder.resolve("exporter.log"),
            Map.of())) {
      exporter.awaitOutput("serving http://127.0.0.1:", 60);
    }
  }

  @Test
  @SystemTest
  void developmentToolsStayInTheCheckout() throws Exception {
    Path bundle = unpackBundle(folder.resolve("unpacked"));
    try (HostProcess demo =
        HostProcess.start(
            List.of(bundle.resolve("bin/heddle").toString(), "demo"),
            folder.resolve("demo.log"),
            Map.of())) {
      assertEquals(2, demo.exitCode(60), demo::outputOrWhyNot);
      assertTrue(demo.output().contains("has no command demo; there are planes, "), demo.output());
    }
  }

  @Test
  @SystemTest
  void everyLinkOfThePagesLeadsToAFileOfThePackage() throws Exception {
    Path bundle = unpackBundle(folder.resolve("unpacked"));
    List<String> broken = new ArrayList<>();
    int links = 0;
    List<Path> pages;
    try (Stream<Path> files = Files.walk(bundle.resolve("share/doc"))) {
      pages = files.filter(each -> each.toString().endsWith(".md")).toList();
    }
    for (Path page : pages) {
      Matcher link = RELATIVE_LINK.matcher(Files.readString(page));
      while (link.find()) {
        links++;
        if (!Files.isRegularFile(page.resolveSibling(link.group(1)))) {
          broken.add(bundle.relativize(page) + " → " + link.group(1));
        }
      }
    }
    assertTrue(links > 50, pages.size() + " pages have " + links + " links");
    assertEquals(List.of(), broken);
  }

  @Test
  @SystemTest
  void pageGivesSizesOfThePackages() throws Exception {
    if (ARM) {
      Skip.because("the page gives the sizes on x86-64");
    }
    String page = Files.readString(REPOSITORY.resolve("docs/install.md"));
    for (String suffix : List.of(".tar.zst", ".deb")) {
      Matcher row = Pattern.compile(Pattern.quote(suffix) + "` .*? ([0-9]+) MB").matcher(page);
      assertTrue(row.find(), page);
      assertEquals(Long.parseLong(row.group(1)), Files.size(file(made, suffix)) / 1e6, 5, suffix);
    }
  }

  @Test
  @SystemTest
  void everyCommandHasAManualPage() throws Exception {
    Path bundle = unpackBundle(folder.resolve("unpacked"));
    String heddle = bundle.resolve("bin/heddle").toString();
    Path pages = bundle.resolve("share/man/man1");
    for (String command : List.of("heddle", "heddle-planes", "heddle-bgp-run", "heddle-perf")) {
      assertTrue(Files.exists(pages.resolve(command + ".1")), command);
    }
    String help = BareRoot.run(List.of(heddle, "bgp", "run", "--help"));
    String page = Files.readString(pages.resolve("heddle-bgp-run.1"));
    assertTrue(help.contains("--config") && page.contains("\\-\\-config"), page);
  }

  @Test
  @SystemTest
  void packageHasBashCompletion() throws Exception {
    Path file =
        unpackBundle(folder.resolve("completion"))
            .resolve("share/bash-completion/completions/heddle");
    assertTrue(Files.readString(file).contains("complete -F"), file.toString());
  }
}
