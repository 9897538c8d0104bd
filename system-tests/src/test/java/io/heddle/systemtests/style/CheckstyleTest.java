package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.puppycrawl.tools.checkstyle.Checker;
import com.puppycrawl.tools.checkstyle.ConfigurationLoader;
import com.puppycrawl.tools.checkstyle.PropertiesExpander;
import com.puppycrawl.tools.checkstyle.api.AuditEvent;
import com.puppycrawl.tools.checkstyle.api.AuditListener;
import com.puppycrawl.tools.checkstyle.api.Configuration;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class CheckstyleTest {
  @Test
  void javaFilesKeepTheRules() throws Exception {
    List<File> files = new ArrayList<>();
    for (Path file : Repository.javaFilesToCheck()) {
      files.add(file.toFile());
    }
    assertEquals("", String.join("\n", violations(files)));
  }

  @Test
  void checkoutHasItsJavaFiles() throws Exception {
    int files = Repository.javaFiles().size();
    assertTrue(files > 100, "only " + files + " Java files found");
  }

  @Test
  void brokenRulesAreFound(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("WireHelper.java");
    Files.writeString(
        file,
        "class WireHelper {\n  void end() {\n    System.exit(1); // TO" + "DO later\n  }\n}\n");
    assertEquals(3, violations(List.of(file.toFile())).size());
  }

  @Test
  void commentsThatBeginWithAClauseAreFound(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("Wire.java");
    Files.writeString(
        file,
        """
        /** %1$s is on the wire. */
        class Wire {
          // %2$s sends it.
          int a;

          /**
           * %1$s receives.
           *
           * @param b %3$s it is
           * @return %3$s it was
           */
          int c(int b) {
            return b;
          }

          /**
           * Returns a header of the peer
           * %3$s is connected.
           */
          int d() {
            return a;
          }
        }
        """
            .formatted("Wh" + "at", "Wh" + "oever", "wh" + "at"));
    assertEquals(5, violations(List.of(file.toFile())).size());
  }

  private static List<String> violations(List<File> files) throws Exception {
    Configuration rules =
        ConfigurationLoader.loadConfiguration(
            Repository.ROOT.resolve("config/checkstyle.xml").toString(),
            new PropertiesExpander(new Properties()));
    List<String> found = new ArrayList<>();
    Checker checker = new Checker();
    try {
      checker.setModuleClassLoader(Checker.class.getClassLoader());
      checker.configure(rules);
      checker.addListener(new Collector(found));
      checker.process(files);
    } finally {
      checker.destroy();
    }
    return found;
  }

  /** Checkstyle rules that apply only in some places. */
  private static boolean isAllowed(String file, AuditEvent event) {
    String rule = event.getModuleId() == null ? "" : event.getModuleId();
    boolean test = file.contains("/src/test/");
    boolean tool =
        file.startsWith("cli/")
            || file.startsWith("tools/")
            || file.startsWith("daemon/")
            || !file.contains("/src/");
    return switch (rule) {
      case "processEnd", "stackTrace" -> test || (tool && !file.startsWith(".."));
      case "sleep" -> test;
      default ->
          event.getSourceName().endsWith("JavadocPackageCheck")
              && (test || !file.contains("/src/"));
    };
  }

  private record Collector(List<String> found) implements AuditListener {
    @Override
    public void addError(AuditEvent event) {
      Path file = Path.of(event.getFileName());
      String name =
          file.startsWith(Repository.ROOT) ? Repository.name(file) : "../" + file.getFileName();
      if (!isAllowed(name, event)) {
        found.add(name + ":" + event.getLine() + ": " + event.getMessage());
      }
    }

    @Override
    public void addException(AuditEvent event, Throwable cause) {
      found.add(event.getFileName() + ": " + cause);
    }

    @Override
    public void auditStarted(AuditEvent event) {}

    @Override
    public void auditFinished(AuditEvent event) {}

    @Override
    public void fileStarted(AuditEvent event) {}

    @Override
    public void fileFinished(AuditEvent event) {}
  }
}
