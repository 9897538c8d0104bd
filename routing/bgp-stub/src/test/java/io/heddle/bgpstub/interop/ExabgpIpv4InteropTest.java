package io.heddle.bgpstub.interop;

/** A fabric of IPv4, whose leaf runs ExaBGP. */
class ExabgpIpv4InteropTest extends ExabgpContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
