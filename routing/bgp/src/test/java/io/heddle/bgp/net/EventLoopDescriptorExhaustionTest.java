package io.heddle.bgp.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Log;
import io.heddle.platform.SystemCallException;
import io.heddle.platform.testing.DescriptorExhaustion;
import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test with a process that runs out of descriptors while it starts the BGP thread repeatedly. */
@EndsWithin(150)
class EventLoopDescriptorExhaustionTest {
  @TempDir Path folder;

  /** Program of the child process. */
  static final class Run {
    private Run() {}

    public static void main(String[] arguments) {
      System.out.println(DescriptorExhaustion.mostRefused(Run::starts));
    }

    private static boolean starts() {
      try {
        new EventLoop(Log.toStandardError()).close();
        return true;
      } catch (SystemCallException refused) {
        return false;
      }
    }
  }

  @Test
  void failedStartOfTheLoopLeaksNoDescriptor() throws Exception {
    String printed = DescriptorExhaustion.run(folder.resolve("output"), Run.class);
    assertTrue(Integer.parseInt(printed.strip()) > 0, printed);
  }
}
