package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of usage errors of {@code heddle perf}, with a device of the stand-in for libibverbs. Each
 * command prints one line with the reason, returns the right exit code and leaves no objects in the
 * stand-in's fabric. {@link PerftestInteropTest} covers a low limit of locked memory and killed
 * peers.
 */
@EndsWithin(120)
@SystemTest
final class PerfUsageErrorsTest {
  private static final long LIMIT_SECONDS = 60;

  @TempDir private Path folder;
  private Lab lab;
  private Map<String, String> environment = Map.of();

  @BeforeEach
  void makeFabric() throws IOException, InterruptedException {
    Path standIn = BuildOutputs.standin().getParent();
    environment =
        Map.of(
            "LD_LIBRARY_PATH", standIn.toString(),
            "STANDIN_FABRIC", folder.resolve("fabric").toString(),
            "HEDDLE_PROVIDER", "libibverbs");
    lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(1, 1, 9000));
    StandinControl.run("create", environment);
    StandinControl.run("host 0", environment);
  }

  @AfterEach
  void assertNothingIsLeft() throws IOException, InterruptedException {
    if (lab != null) {
      lab.close();
      assertTrue(
          !StandinControl.run("show", environment).contains("process"),
          StandinControl.run("show", environment));
      StandinControl.run("remove", environment);
    }
  }

  /*
   * Runs a command that must fail with this exit code and print one line. After a usage error,
   * another line points to the help.
   */
  private String failure(int code, String words) throws IOException, InterruptedException {
    List<String> command = HeddleRun.command(("perf " + words).split(" "));
    try (HostProcess process =
        HostProcess.start(lab, 0, folder.resolve("perf.log"), environment, command)) {
      assertEquals(code, process.exitCode(LIMIT_SECONDS), process::outputOrWhyNot);
      List<String> output =
          process.output().lines().filter(line -> line.startsWith("heddle:")).toList();
      assertEquals(1, output.size(), process.output());
      assertTrue(!process.output().contains("\tat "), process.output());
      return output.getFirst();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | -d standni0 | -d standni0: there is no such device; devices: standin0; did you mean"
            + " standin0?",
        "1 | -x 77 | -x 77: device standin0 has no GID at that index; it has 0 (fe80",
        "1 | -i 3 | -i 3: device standin0 has no such port; its port is 1",
        "2 | -m 1000 | -m 1000: an MTU is one of 256, 512, 1024, 2048 and 4096",
        "2 | --qpp 4 | heddle perf write_bw has no option --qpp; did you mean --qp?",
        "1 | --planes moon | --planes moon: device standin0 has no such plane",
        "1 | -p 9 127.0.0.1 | can't connect to 127.0.0.1 port 9",
      })
  void missingDeviceOrAddressIsOneLine(int code, String options, String sentence) throws Exception {
    String output = failure(code, "write_bw " + options);
    assertTrue(output.startsWith("heddle: " + sentence), output);
  }

  @Test
  void unreadableDeviceNodeIsOneLineWithRemedy() throws Exception {
    StandinControl.run("refuse 0/0 ibv_open_device 13 100", environment);
    String output = failure(1, "write_bw -d standin0");
    assertTrue(output.contains("EACCES") && output.contains("/dev/infiniband"), output);
  }

  private String failureAgainst(byte[] answer) throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      Thread server =
          new Thread(() -> {
            try (Socket client = listener.accept()) {
              client.getOutputStream().write(answer);
              client.shutdownOutput();
              client.getInputStream().readAllBytes();
            } catch (IOException theOtherEndWasFirst) {
              return;
            }
          });
      server.start();
      String output = failure(1, "write_bw -x 1 -p " + listener.getLocalPort() + " 127.0.0.1");
      server.join();
      return output;
    }
  }

  @Test
  void aServerThatIsNotPerftestIsQuoted() throws Exception {
    String output = failureAgainst("SSH-2.0-OpenSSH_9.2p1\r\n".getBytes(StandardCharsets.US_ASCII));
    assertTrue(output.contains("SSH-2.0-OpenS"), output);
  }

  @Test
  void silentServerIsOneLine() throws Exception {
    String output = failureAgainst(new byte[0]);
    assertTrue(output.contains("check that it is perftest"), output);
  }
}
