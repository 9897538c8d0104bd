package io.heddle.bgpstub.interop;

import org.junit.jupiter.api.Test;

class GobgpInteropTest extends GobgpContract {
  @Test
  void peerOnALinkLocalAddressIsEnough() throws Exception {
    local = "::";
    neighbour = net.linkLocal(net.host(), "p1") + "%h0";
    launch("", true);
    connectToLinkLocal();
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }
}
