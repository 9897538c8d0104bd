package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Test of the hook that formats a commit's files, in a separate repository. */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(120)
class PreCommitTest {
  private static final String JAVA = "class One { int  two ; }\n";
  private static final String FORMATTED_JAVA = "class One {\n  int two;\n}\n";
  private static final String C = "int  one( void ){ return 1 ; }\n";
  private static final String FORMATTED_C = "int one(void) { return 1; }\n";

  @TempDir private Path repository;

  @BeforeEach
  void makeRepository() throws Exception {
    for (String name :
        List.of(
            "heddle",
            "pom.xml",
            "config/build-progress.sh",
            "config/jdk.sh",
            "config/tests.sh",
            ".clang-format",
            ".githooks/pre-commit")) {
      Path to = repository.resolve(name);
      Files.createDirectories(to.getParent());
      Files.copy(Repository.ROOT.resolve(name), to, StandardCopyOption.COPY_ATTRIBUTES);
    }
    /* Copies the formatter from the test's class path, so that ./heddle doesn't download it. */
    String version =
        Files.readString(repository.resolve("pom.xml"))
            .replaceFirst("(?s).*<google-java-format.version>(.*?)<.*", "$1");
    Path formatter =
        Files.createDirectories(repository.resolve(".build/google-java-format-" + version));
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path jar = Path.of(entry);
      if (Stream.of("google-java-format", "guava", "failureaccess", "commonmark")
          .anyMatch(jar.getFileName().toString()::startsWith)) {
        Files.copy(jar, formatter.resolve(jar.getFileName()));
      }
    }
    Files.writeString(repository.resolve(".gitignore"), ".build/\n");
    run("git", "init", "-q");
    run("git", "config", "user.name", "a test");
    run("git", "config", "user.email", "test@localhost");
    run("git", "config", "core.hooksPath", ".githooks");
    run("git", "add", ".");
    run("git", "commit", "-q", "-m", "begin");
  }

  private String run(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).directory(repository.toFile());
    builder.environment().put("HEDDLE_JAVA_HOME", System.getProperty("java.home"));
    builder.environment().keySet().removeIf(name -> name.startsWith("GIT_"));
    Process process = builder.redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), String.join(" ", command) + ": " + output);
    return output;
  }

  private void write(String name, String text) throws Exception {
    Files.writeString(repository.resolve(name), text);
  }

  @Test
  void formatsFilesOfCommit() throws Exception {
    write("One.java", JAVA);
    write("one.c", C);
    write("not-java.txt", JAVA);
    run("git", "add", ".");
    String output = run("git", "commit", "-q", "-m", "one");
    assertEquals(FORMATTED_JAVA, run("git", "show", "HEAD:One.java"));
    if (ClangFormat.find().isPresent()) {
      assertEquals(FORMATTED_C, run("git", "show", "HEAD:one.c"));
    } else {
      assertTrue(output.contains("no clang-format 14"), output);
      assertEquals(C, run("git", "show", "HEAD:one.c"));
    }
    assertEquals(JAVA, run("git", "show", "HEAD:not-java.txt"));
    assertEquals("", run("git", "status", "--porcelain"));
  }

  @Test
  void leavesPartlyStagedFilesAlone() throws Exception {
    write("One.java", JAVA);
    run("git", "add", ".");
    write("One.java", JAVA + "// more\n");
    String output = run("git", "commit", "-q", "-m", "one");
    assertTrue(output.contains("One.java is staged in part"), output);
    assertEquals(JAVA, run("git", "show", "HEAD:One.java"));
    assertEquals(JAVA + "// more\n", Files.readString(repository.resolve("One.java")));
  }
}
