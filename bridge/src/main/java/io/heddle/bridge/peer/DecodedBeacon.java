package io.heddle.bridge.peer;

/** Result of decoding received bytes as a beacon. */
public sealed interface DecodedBeacon {
  /** Valid beacon. */
  record Valid(Beacon beacon) implements DecodedBeacon {}

  /** Rejected bytes. */
  record Rejected(BeaconFault fault) implements DecodedBeacon {}
}
