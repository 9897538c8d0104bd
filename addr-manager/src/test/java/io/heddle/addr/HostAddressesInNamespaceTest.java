package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests of the kernel's reports in a namespace with known content. */
@EndsWithin(60)
@SystemTest
final class HostAddressesInNamespaceTest {
  @Test
  void seesLinksAddressesPlanesAndChanges() throws IOException, InterruptedException {
    NamespaceRun.assumeNamespaces();
    String output = NamespaceRun.java("exec \"$@\"", AddressScenario.class);
    assertEquals(
        """
        e0 is up: true
        link lo mtu 65536 up false carrier true mac 00:00:00:00:00:00 kind  speed 0
        link p0 mtu 1500 up true carrier true mac * kind veth speed 10000000000
        link e0 mtu 9000 up true carrier true mac 02:00:00:00:01:01 kind veth speed 10000000000
        link p1 mtu 1500 up false carrier false mac * kind veth speed 0
        link e1 mtu 1500 up true carrier false mac 02:00:00:00:01:02 kind veth speed 10000000000
        plane subnet:0001 fd00:1:1:1:0:ff:fe00:101/64
        rejected fd00:1:1:2::7/64 on e0 isn't used: it is deprecated: its preferred lifetime is over
        rejected fd00:1:1:3::8/64 on e1 isn't used: its interface is down or has no carrier
        events came: true
        nothing waits: true
        carrier came: true
        two usable: true
        removals came: true
        none usable: true
        """,
        output.replaceAll("(link p. .* mac )[0-9a-f:]+", "$1*"));
  }
}
