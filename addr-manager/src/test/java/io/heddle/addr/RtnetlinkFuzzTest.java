package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;

/**
 * Fuzz test: any bytes decode to a message or to null. With {@code JAZZER_FUZZ=1} the fuzzer
 * searches for bytes that cause an exception.
 */
final class RtnetlinkFuzzTest {
  @FuzzTest(maxDuration = "30s")
  void anyRunOfMessagesIsWalkedToItsEnd(byte[] bytes) {
    ByteBuffer run = RtnetlinkMessages.buffer(bytes);
    int length;
    while ((length = Rtnetlink.messageLength(run)) > 0) {
      AddressEvent event = Rtnetlink.decode(run.slice(run.position(), length).order(run.order()));
      if (event instanceof AddressEvent.LinkChanged changed) {
        assertTrue(changed.link().index() > 0 && !changed.link().name().isEmpty());
      } else if (event instanceof AddressEvent.AddressChanged changed) {
        assertTrue(
            changed.address().prefixLength()
                <= 8 * changed.address().address().getAddress().length);
      }
      run.position(Math.min(run.limit(), run.position() + Rtnetlink.aligned(length)));
    }
  }
}
