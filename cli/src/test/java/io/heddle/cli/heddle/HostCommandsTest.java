package io.heddle.cli.heddle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

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
  void secondRouteDaemonLeavesTheSocketOfTheFirst(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("bgp.sock");
    Path config =
        Files.writeString(
            folder.resolve("bgp.conf"),
            """
            as = 65001
            publish = %s
            control = %s
            listen-port = 0
            [peer a]
            address = ::1
            plane = a
            passive = yes
            """
                .formatted(folder.resolve("routes"), socket));
    try (ServerSocketChannel first = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      first.bind(UnixDomainSocketAddress.of(socket));
      CommandLine line = HeddleCommand.commandLine();
      StringWriter err = new StringWriter();
      line.setErr(new PrintWriter(err, true));
      int code =
          HeddleCommand.run(
              line, new ByteArrayOutputStream(), "bgp", "run", "--config", config.toString());
      assertEquals(ExitCode.FAILED, code);
      assertEquals(
          "heddle: a route daemon runs already and listens at " + socket + "; end it first",
          err.toString().strip());
      assertTrue(Files.exists(socket));
    }
    assertFalse(Files.exists(folder.resolve("routes.lock")));
  }

  @Test
  void helpSuggestsTheNearestCommand() {
    CommandLine line = HeddleCommand.commandLine();
    StringWriter err = new StringWriter();
    line.setErr(new PrintWriter(err, true));
    assertEquals(
        ExitCode.USAGE,
        HeddleCommand.run(line, new ByteArrayOutputStream(), "help", "bridge", "chek"));
    assertTrue(err.toString().contains("no command chek; did you mean check?"), err.toString());
  }

  @Test
  void toolsOfACheckoutAreRefused() {
    int code = HeddleCommand.run(HeddleCommand.commandLine(), new ByteArrayOutputStream(), "demo");
    assertEquals(ExitCode.USAGE, code);
  }
}
