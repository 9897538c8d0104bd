package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;
import org.junit.jupiter.api.Test;

@SystemTest
class OpenbgpdInteropTest extends OpenbgpdContract {
  @Test
  void linkLocalPeerIsReached() throws Exception {
    local = HostAndLeaf.linkLocal(net.leaf(), "h0") + "%h0";
    neighbour = HostAndLeaf.linkLocal(net.host(), "p1") + "%h0";
    launch("", true);
    connectToLinkLocal();
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }
}
