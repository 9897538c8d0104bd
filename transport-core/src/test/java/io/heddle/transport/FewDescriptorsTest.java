package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.FewDescriptors;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that has no descriptors to spare, and starts the transport again and again. */
@EndsWithin(150)
class FewDescriptorsTest {
  /** So many the start in C asks for before it goes on to Java (start_limits.c). */
  private static final int ASKED_FOR = 32;

  @TempDir Path folder;

  @Test
  void failedStartKeepsNoDescriptor() throws Exception {
    String printed =
        FewDescriptors.run(folder.resolve("output"), FewDescriptorsRun.class, folder.toString());
    int tooFew = Integer.parseInt(printed.strip());
    assertTrue(tooFew > 0 && tooFew < ASKED_FOR, printed);
  }
}
