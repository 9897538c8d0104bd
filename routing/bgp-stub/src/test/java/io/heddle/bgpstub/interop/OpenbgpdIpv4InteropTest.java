package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;

/** A fabric of IPv4, whose leaf runs OpenBGPD. */
@SystemTest
class OpenbgpdIpv4InteropTest extends OpenbgpdContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
