package io.heddle.transport;

import java.util.Map;

/** Tests of groups over the soft device, on IPv4 loopback. */
class SoftOneSidedTest extends OneSidedSuite {
  @Override
  Ends ends(Map<String, String> more) {
    return new Ends(null, folder, FOUR, FOUR, more);
  }
}
