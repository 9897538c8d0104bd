package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;

/** Interoperability with GoBGP on an IPv4 fabric. */
@SystemTest
class GobgpIpv4InteropTest extends GobgpContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
