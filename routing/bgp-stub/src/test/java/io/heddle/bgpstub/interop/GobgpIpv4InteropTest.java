package io.heddle.bgpstub.interop;

/** A fabric of IPv4, whose leaf runs GoBGP. */
class GobgpIpv4InteropTest extends GobgpContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
