package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.SystemTest;

/** Interoperability with ExaBGP on an IPv4 fabric. */
@SystemTest
class ExabgpIpv4InteropTest extends ExabgpContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
