package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.DescriptorExhaustion;
import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests opening the device repeatedly in a process without free descriptors. */
@EndsWithin(150)
class DescriptorExhaustionTest {
  @TempDir Path folder;

  @Test
  void failedOpenLeaksNoDescriptor() throws Exception {
    String printed =
        DescriptorExhaustion.run(folder.resolve("output"), DescriptorExhaustionRun.class);
    assertTrue(Integer.parseInt(printed.strip()) > 0, printed);
  }
}
