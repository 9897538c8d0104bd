package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@code heddle bench} on a host without routing daemons, nftables and OpenSSL. */
@EndsWithin(60)
final class BenchOnABareHostTest {
  @TempDir private Path folder;

  @Test
  void measurementsWithoutTheirProgramAreNotRunAndNameTheRemedy() throws Exception {
    Path log = folder.resolve("log");
    Path path = Files.createDirectory(folder.resolve("path"));
    for (String program : List.of("sh", "git")) {
      Files.createSymbolicLink(path.resolve(program), Path.of("/usr/bin", program));
    }
    String text;
    try (HostProcess bench =
        HostProcess.start(
            HeddleRun.command(
                "bench", "--only", "fabric,wan", "--output", folder.resolve("record").toString()),
            log,
            Map.of("PATH", path.toString()))) {
      assertEquals(1, bench.exitCode(30));
      text = bench.output();
    }
    assertTrue(text.contains("2 measurements, at most "), text);
    assertTrue(
        text.contains(
            "1 of 2, fabric: NOT RUN: missing: bird; install with: apt-get install bird2; missing:"
                + " nft; install with: apt-get install nftables"),
        text);
    assertTrue(text.contains("missing: openssl; install with: apt-get install openssl"), text);
    assertTrue(
        text.contains("steps that hold") && text.contains("not run: missing: nft; install with"),
        text);
    assertFalse(text.contains("measured in"), text);
    assertTrue(text.contains("# 0 targets met, 0 missed, "), text);
  }
}
