package io.heddle.bgpstub.interop;

import org.junit.jupiter.api.Test;

class OpenbgpdInteropTest extends OpenbgpdContract {
  @Test
  void peerOnALinkLocalAddressIsEnough() throws Exception {
    local = net.linkLocal(net.leaf(), "h0") + "%h0";
    neighbour = net.linkLocal(net.host(), "p1") + "%h0";
    launch("", true);
    connectToLinkLocal();
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }
}
