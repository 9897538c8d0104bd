package io.heddle.bgpstub.interop;

import io.heddle.platform.testing.InWholeRun;
import org.junit.jupiter.api.Test;

/** A fabric of IPv4, whose leaf runs GoBGP. */
class GobgpIpv4InteropTest extends GobgpContract {
  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }

  /* It rests for half a minute after a reset, as over IPv6. */
  @Test
  @InWholeRun
  @Override
  void operatorsResetEndsTheSessionWithItsReasonAndANewOneFollows() throws Exception {
    super.operatorsResetEndsTheSessionWithItsReasonAndANewOneFollows();
  }
}
