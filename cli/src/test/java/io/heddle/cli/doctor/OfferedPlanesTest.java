package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AssignedAddress;
import io.heddle.addr.NetworkLink;
import io.heddle.addr.Plane;
import io.heddle.addr.PlaneMarks;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OfferedPlanesTest {
  private static Plane plane(String key, String ownKey, String address, int prefixLength) {
    NetworkLink link = new NetworkLink(2, "e2.7", 9000, true, true, false, "", 0, "");
    return new Plane(
        key,
        ownKey,
        new AssignedAddress(2, InetAddress.ofLiteral(address), prefixLength, Set.of()),
        link,
        "a test");
  }

  @Test
  void marksRoundTrip() {
    List<Plane> planes =
        List.of(
            plane("if:e2.7", "if:e2.7", "fd00:1:1:2::1", 64),
            plane("colour:3", "subnet:10.0.0.0", "10.0.0.1", 24));
    String text = OfferedPlanes.text(planes);
    assertEquals("if:e2.7=fd00:1:1:2::1/64%e2.7,colour:3=10.0.0.1/24%e2.7!subnet:10.0.0.0", text);
    assertEquals(planes.stream().map(Plane::marks).toList(), OfferedPlanes.parse(text));
  }

  @Test
  void olderReleaseFormIsParsedAndMalformedWordsSkipped() {
    List<PlaneMarks> planes = OfferedPlanes.parse("if:e1=fd00::1,noise,=,x=y,if:e2=10.0.0.9");
    assertEquals(List.of("if:e1", "if:e2"), planes.stream().map(PlaneMarks::key).toList());
    assertTrue(planes.stream().allMatch(PlaneMarks::isHostAddress));
  }
}
