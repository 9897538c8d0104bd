package io.heddle.tools.wan;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Cleanup;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of the demo's closed control loop, with gateways, controller and route reflector as
 * processes.
 */
@EndsWithin(600)
final class WanDemoTest {
  @TempDir private Path folder;

  @BeforeEach
  void requireAll() {
    Requirements.namespaces();
    Requirements.skipWhere(DataPlane.refusal().orElse(""));
    Requirements.skipWhere(
        Files.isExecutable(Path.of("/usr/bin/openssl")) ? "" : "openssl isn't installed");
  }

  @Test
  void collidingElephantsAreSeparated() throws Exception {
    run(WanDemo.Extent.LOOP);
  }

  @Test
  @SystemTest
  void collidingElephantsAreSeparatedUntilTheReasonEnds() throws Exception {
    run(WanDemo.Extent.SHORT);
  }

  private void run(WanDemo.Extent extent) throws Exception {
    WanDemo.TimeLimits limits =
        new WanDemo.TimeLimits(
            seconds -> io.heddle.platform.testing.Deadline.ofSeconds(seconds)::isOver, false);
    try (Cleanup cleanup = new Cleanup()) {
      WanReport report =
          WanDemo.run(
              folder,
              limits,
              new WanDemo.Setting(WanDemo.canReflect(), extent),
              step -> System.out.println(step),
              cleanup);
      report.steps().forEach(System.out::println);
      report.figures().forEach(System.out::println);
      assertTrue(report.passed(), () -> report + "\n" + logs());
    }
  }

  private String logs() {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(each -> each.toString().endsWith(".log"))
          .map(each -> each.getFileName() + ":\n" + text(each))
          .collect(Collectors.joining("\n"));
    } catch (IOException gone) {
      return gone.toString();
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException gone) {
      return gone.toString();
    }
  }
}
