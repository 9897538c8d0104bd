package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;
import org.junit.jupiter.api.Test;

@SystemTest
class GobgpInteropTest extends GobgpContract {
  @Test
  void linkLocalPeerIsReached() throws Exception {
    local = "::";
    neighbour = HostAndLeaf.linkLocal(net.host(), "p1") + "%h0";
    launch("", true);
    connectToLinkLocal();
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }
}
