package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Planes that die under the real plugin and the ranks' real program, every element checked. The
 * hosts have nothing but planes: the control channels are on one of those that are cut.
 */
@Timeout(180)
final class FailoverDemoTest {
  @TempDir private Path folder;

  @BeforeEach
  void requireBuiltParts() {
    BuiltParts.plugin();
    BuiltParts.allReduce();
    DemoProcess.assume(Lab.Kind.NAMESPACES);
  }

  private static void filter(String namespace, String words)
      throws IOException, InterruptedException {
    run("ip", "netns", "exec", namespace, "nft", words);
  }

  private static void run(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), command + ": " + said);
  }

  /* How many lines of the ranks say this so far. */
  private long lines(String part) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> file.toString().matches(".*(log|err|out|txt)"))
          .mapToLong(file -> lines(file, part))
          .sum();
    } catch (IOException | UncheckedIOException changing) {
      return 0;
    }
  }

  private static long lines(Path file, String part) {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
      return lines.filter(line -> line.contains(part)).count();
    } catch (IOException | UncheckedIOException changing) {
      return 0;
    }
  }

  private void await(DemoProcess demo, String part, long atLeast)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (lines(part) < atLeast) {
      assertTrue(
          System.nanoTime() - deadline < 0, "no '" + part + "' within 60 s: " + demo.output());
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void aSilentCutAndThenALostCarrierCostNoElement() throws IOException, InterruptedException {
    try (DemoProcess demo =
        DemoProcess.start(
            folder,
            "--json",
            "--network",
            "namespaces",
            "--planes",
            "3",
            "--min-bytes",
            "4M",
            "--max-bytes",
            "4M",
            "--iterations",
            "3000")) {
      while (demo.namespaces().size() < 2) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
      List<String> hosts = demo.namespaces();
      TimeUnit.SECONDS.sleep(4);
      /* The plane that the control channels are on. */
      filter(hosts.getFirst(), "add table inet cut");
      filter(hosts.getFirst(), "add chain inet cut in { type filter hook input priority 0; }");
      filter(hosts.getFirst(), "add rule inet cut in iifname e1 drop");
      await(demo, "moving off", 4);
      run("ip", "-n", hosts.getLast(), "link", "set", "e2", "down");
      await(demo, "moving off", 8);
      filter(hosts.getFirst(), "delete table inet cut");
      assertEquals(0, demo.exitCode(), demo.output());
      JsonNode report = demo.json();
      assertTrue(report.path("passed").asBoolean(), demo.output());
      assertEquals(0, report.path("wrong").asLong(-1));
    }
  }
}
