package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;

/** Interoperability with OpenBGPD on an IPv4 fabric. */
@SystemTest
class OpenbgpdIpv4InteropTest extends OpenbgpdContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
