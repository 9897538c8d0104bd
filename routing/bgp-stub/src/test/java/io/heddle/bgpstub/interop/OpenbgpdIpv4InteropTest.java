package io.heddle.bgpstub.interop;

/** A fabric of IPv4, whose leaf runs OpenBGPD. */
class OpenbgpdIpv4InteropTest extends OpenbgpdContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }
}
