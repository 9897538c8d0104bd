package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.StringWrapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that Java sources are formatted by google-java-format; {@code ./heddle format} formats them.
 */
@Execution(ExecutionMode.CONCURRENT)
class FormatTest {
  @Test
  void everyJavaFileIsFormatted() throws Exception {
    Formatter formatter = new Formatter();
    List<Path> unformatted = new ArrayList<>();
    for (Path file : Repository.javaFilesToCheck()) {
      String source = Files.readString(file);
      String formatted = StringWrapper.wrap(formatter.formatSourceAndFixImports(source), formatter);
      if (!formatted.equals(source)) {
        unformatted.add(Repository.ROOT.relativize(file));
      }
    }
    assertEquals(List.of(), unformatted, "run ./heddle format");
  }
}
