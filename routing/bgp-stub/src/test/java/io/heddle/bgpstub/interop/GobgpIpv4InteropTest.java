package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;

/** A fabric of IPv4, whose leaf runs GoBGP. */
@SystemTest
class GobgpIpv4InteropTest extends GobgpContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
