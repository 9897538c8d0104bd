package io.heddle.bridge.peer;

/** What bytes are that came as a beacon. */
public sealed interface BeaconReading {
  /** A beacon. */
  record Right(Beacon beacon) implements BeaconReading {}

  /** None. */
  record Wrong(BeaconFault fault) implements BeaconReading {}
}
