package io.heddle.bgp.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Fuzz test: any bytes on the link are an advertisement or rejected. */
class PacketFuzzTest {
  @FuzzTest(maxDuration = "10s")
  void anyBytesAreAnAdvertisementOrNothing(byte[] bytes) {
    RouterAdvertisement read = RouterAdvertisement.decode(bytes, bytes.length);
    assertTrue(read == null || read.lifetimeSeconds() >= 0 && read.lifetimeSeconds() <= 0xffff);
  }
}
