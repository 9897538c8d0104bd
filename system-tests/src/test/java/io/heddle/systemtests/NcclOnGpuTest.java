package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.tools.lab.Skip;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of NCCL's own library over the plugin and over sockets; needs a GPU and NCCL. */
@EndsWithin(300)
class NcclOnGpuTest {
  private static final int UNAVAILABLE = 77;

  @TempDir private Path folder;

  @Test
  void ncclRunsOverThePluginAndOverSockets() throws Exception {
    BuildOutputs.plugin();
    Path script = Path.of("").toAbsolutePath().resolveSibling("perf-tests/nccl/run.sh");
    List<String> command =
        List.of(script.toString(), "--max-bytes", "4194304", "--iterations", "3");
    try (HostProcess runs = HostProcess.start(command, folder.resolve("nccl.log"), Map.of())) {
      int code = runs.exitCode(240);
      if (code == UNAVAILABLE) {
        Skip.because(runs.output().strip());
      }
      assertEquals(0, code, runs::outputOrWhyNot);
    }
  }
}
