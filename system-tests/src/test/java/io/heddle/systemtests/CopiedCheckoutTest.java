package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that the C sources of a copied or moved checkout can still be built, by the same step that
 * Maven runs.
 */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(120)
@SystemTest
final class CopiedCheckoutTest {
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
  private static final String WORDS = "int main(void) { return 0; }\n";

  @TempDir private Path folder;
  private Path first;

  private record Result(int exitCode, String text) {}

  @BeforeEach
  void buildOne() throws Exception {
    for (String tool : List.of("cmake", "cc", "make")) {
      if (Stream.of(System.getenv("PATH").split(":"))
          .noneMatch(each -> Files.isExecutable(Path.of(each, tool)))) {
        Skip.because("no " + tool);
      }
    }
    first = Files.createDirectory(folder.resolve("first"));
    Files.writeString(
        first.resolve("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.18)\nproject(one C)\nadd_executable(one one.c)\n");
    Files.writeString(first.resolve("one.c"), WORDS);
    build(first);
  }

  private static void build(Path checkout) throws IOException, InterruptedException {
    for (String[] step :
        new String[][] {
          {"cmake", "-S", ".", "-B", "target"}, {"cmake", "--build", "target"},
        }) {
      Result said = step(checkout, step);
      assertEquals(0, said.exitCode, said.text);
    }
  }

  private static Result step(Path checkout, String... tool)
      throws IOException, InterruptedException {
    List<String> command = new java.util.ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(REPOSITORY.resolve("native/RunTool.java").toString());
    command.addAll(List.of(tool));
    return run(checkout, command);
  }

  private static Result run(Path checkout, List<String> command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(checkout.toFile()).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes());
    return new Result(process.waitFor(), text);
  }

  @Test
  void aCopyBuildsInItsOwnFolder() throws Exception {
    Path second = folder.resolve("second");
    BareRoot.run(List.of("cp", "-a", first.toString(), second.toString()));
    /* Asserts that CMake alone fails, so that the build has something to repair. */
    assertNotEquals(
        0, run(second, List.of("cmake", "-S", ".", "-B", "target")).exitCode, "cmake alone");
    Files.writeString(second.resolve("one.c"), WORDS + "const char *where = \"second\";\n");
    build(second);
    String cache = Files.readString(second.resolve("target/CMakeCache.txt"));
    assertTrue(cache.contains("CMAKE_HOME_DIRECTORY:INTERNAL=" + second.toRealPath()), cache);
    assertTrue(
        Files.readString(second.resolve("target/one"), java.nio.charset.StandardCharsets.ISO_8859_1)
            .contains("second"));
    build(first);
  }

  @Test
  @WholeRunOnly
  void movedCheckoutBuildsAndKeepsOtherFilesOfBuildFolder() throws Exception {
    Files.writeString(first.resolve("target/report.xml"), "");
    Path moved = Files.move(first, folder.resolve("moved"));
    build(moved);
    assertTrue(Files.exists(moved.resolve("target/report.xml")));
    assertTrue(Files.isExecutable(moved.resolve("target/one")));
  }

  @Test
  @WholeRunOnly
  void unmovedCheckoutRebuildsNothing() throws Exception {
    Path object = first.resolve("target/CMakeFiles/one.dir/one.c.o");
    var before = Files.getLastModifiedTime(object);
    build(first);
    assertEquals(before, Files.getLastModifiedTime(object));
    /* A build through another path to the same folder doesn't compile again either. */
    Path link = Files.createSymbolicLink(folder.resolve("link"), first);
    build(link);
    assertEquals(before, Files.getLastModifiedTime(object));
  }
}
