package io.heddle.tools.lab;

import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;

/**
 * Settings of the load balancing of a fabric's switches over equal links. With load balancing,
 * every plane may cross every spine.
 *
 * @param mode mode in which links for data packets are selected
 * @param polarised whether all switches have the same hash
 * @param scope data packets that may be sprayed; other packets are hashed
 * @param perPacket whether hosts send single packets instead of segment trains
 */
public record FabricSwitching(
    SwitchingMode mode, boolean polarised, SprayScope scope, boolean perPacket) {
  /** Returns a description for status output. */
  String text() {
    return mode.text()
        + ", "
        + (polarised ? "the same hash" : "a separate hash")
        + " at each switch"
        + (mode == SwitchingMode.HASH
            ? ""
            : "; sprays " + scope.text() + (perPacket ? ", single packets" : ", trains"));
  }
}
