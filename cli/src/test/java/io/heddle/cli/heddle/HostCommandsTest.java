package io.heddle.cli.heddle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.ExitCode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Test of the command line as packages contain it, without the tools of a checkout. */
class HostCommandsTest {
  private static String output(String... arguments) {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    assertEquals(0, HeddleCommand.run(HeddleCommand.commandLine(), output, arguments));
    return output.toString(StandardCharsets.UTF_8);
  }

  @Test
  void helpOnJsonListsOnlyCommandsThatAreHere() {
    String text = output("help", "json");
    assertTrue(text.contains("\n  heddle stat\n"), text);
    assertTrue(text.contains("\n  heddle bgp show routes\n"), text);
    for (String tool : new String[] {"demo", "bench", "lab", "soak", "simulate", "bridge demo"}) {
      assertFalse(text.contains("  heddle " + tool), text);
    }
    assertFalse(text.contains("heddle perf allreduce"), text);
  }

  @Test
  void helpOnACommandsJsonNamesItsKeys() {
    assertTrue(output("help", "json", "bridge", "show").contains("heddle bridge show"));
  }

  @Test
  void jsonOfABridgesCheckNeedsHost() {
    int code =
        HeddleCommand.run(
            HeddleCommand.commandLine(), new ByteArrayOutputStream(), "bridge", "check", "--json");
    assertEquals(ExitCode.USAGE, code);
  }

  @Test
  void toolsOfACheckoutAreRefused() {
    int code = HeddleCommand.run(HeddleCommand.commandLine(), new ByteArrayOutputStream(), "demo");
    assertEquals(ExitCode.USAGE, code);
  }
}
