package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.DescriptorExhaustion;
import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a process without spare descriptors that keeps starting the transport. */
@EndsWithin(150)
class DescriptorExhaustionTest {
  /** Descriptors that the start in C requires before it enters Java (start_limits.c). */
  private static final int ASKED_FOR = 32;

  @TempDir Path folder;

  @Test
  void failedStartKeepsNoDescriptor() throws Exception {
    String printed =
        DescriptorExhaustion.run(
            folder.resolve("output"), DescriptorExhaustionRun.class, folder.toString());
    int tooFew = Integer.parseInt(printed.strip());
    assertTrue(tooFew > 0 && tooFew < ASKED_FOR, printed);
  }
}
