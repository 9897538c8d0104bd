package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.HeddleCommand;
import io.heddle.tools.lab.Lab;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * That nothing has become slower by a factor: ratios of contestants that take turns, beside the
 * recorded ones. Takes half a minute, since a median under load needs its rounds.
 */
@Timeout(400)
final class RegressionCheckTest {
  private static final int LIMIT_SECONDS = 380;

  @TempDir private Path folder;

  @Test
  void ratiosAreNotFarWorseThanTheRecordedOnes() throws Exception {
    BuiltParts.plugin();
    BuiltParts.standin();
    DemoProcess.assume(Lab.Kind.NAMESPACES);
    List<String> command = new ArrayList<>(HeddleCommand.asStarted());
    command.addAll(List.of("bench", "--check"));
    Path said = folder.resolve("said");
    ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(said.toFile());
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    Process process = builder.start();
    try {
      assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS), "it ends in time");
      String compared = Files.readString(said);
      System.out.print(compared);
      assertEquals(0, process.exitValue(), compared);
      assertTrue(compared.lines().filter(line -> line.startsWith("fine ")).count() > 3, compared);
    } finally {
      process.destroy();
    }
  }
}
