package io.heddle.roce.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.Gid;
import io.heddle.verbs.VerbsException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the parameters that soft devices exchange, with equal and different versions. */
class EndpointParametersTest {
  private static final int VERSION_AT = 2;

  @Test
  void parametersSurviveRoundTrip() {
    byte[] told = parameters();
    assertArrayEquals(told, EndpointParameters.parse(told, "the peer").toBytes());
  }

  @Test
  void rejectsOtherVersionAndNamesBoth() {
    byte[] told = parameters();
    int own = told[VERSION_AT];
    told[VERSION_AT]--;
    VerbsException refused =
        assertThrows(VerbsException.class, () -> EndpointParameters.parse(told, "the peer"));
    assertTrue(
        refused
            .getMessage()
            .contains(
                "the peer's soft device has version %s, this one %s; run the same Heddle at both ends"
                    .formatted(own - 1, own)),
        refused.getMessage());
  }

  private static byte[] parameters() {
    var ends = List.of(new LinkEnd(new Gid(0, 0), 4791, 49_152));
    return new EndpointParameters(4 << 20, 4096, ends).toBytes();
  }
}
