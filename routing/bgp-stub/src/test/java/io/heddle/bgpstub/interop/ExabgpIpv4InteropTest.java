package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;

/** A fabric of IPv4, whose leaf runs ExaBGP. */
@SystemTest
class ExabgpIpv4InteropTest extends ExabgpContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
