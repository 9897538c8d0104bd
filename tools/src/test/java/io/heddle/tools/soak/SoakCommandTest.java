package io.heddle.tools.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Test of command lines that are rejected before any run. */
class SoakCommandTest {
  private final StringWriter err = new StringWriter();

  private int execute(String... arguments) {
    CommandLine line = new CommandLine(new SoakCommand());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setErr(new PrintWriter(err, true));
    return line.execute(arguments);
  }

  @ParameterizedTest
  @CsvSource({
    "--runs 0,     --runs 0 is less than 1",
    "--runs -3,    --runs -3 is less than 1",
    "--minutes 0,  --minutes 0 is less than 1",
    "--minutes 43201, --minutes 43201 is more than 43200",
    "--seed -1,    --seed -1 is negative; seeds are whole numbers from 0"
  })
  void numbersBelowTheirMinimumAreRejectedWithTheirValue(String line, String sentence) {
    assertEquals(CommandLine.ExitCode.USAGE, execute(line.split(" ")));
    assertTrue(err.toString().contains(sentence), err.toString());
  }

  @Test
  void unknownPolicyIsRejectedWithTheValidOnes() {
    assertEquals(CommandLine.ExitCode.USAGE, execute("--policy", "fastest"));
    assertTrue(err.toString().contains("least-in-flight"), err.toString());
  }

  @Test
  void seedThatIsNotANumberIsRejected() {
    assertEquals(CommandLine.ExitCode.USAGE, execute("--seed", "lucky"));
    assertTrue(err.toString().contains("lucky"), err.toString());
  }
}
