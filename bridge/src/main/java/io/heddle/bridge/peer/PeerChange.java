package io.heddle.bridge.peer;

/**
 * Change of the fabrics on which a bridge is received.
 *
 * @param id number of the bridge
 * @param before fabrics on which it was received: bit 0 for fabric a, bit 1 for b
 * @param now fabrics on which it is received: bit 0 for fabric a, bit 1 for b
 * @param left whether the bridge has announced its departure
 */
public record PeerChange(int id, int before, int now, boolean left) {
  /** Returns the message for operators. */
  public String describe() {
    String bridge = "bridge " + id;
    if (left) {
      return bridge + " has ended";
    }
    return switch (now) {
      case 0 ->
          bridge
              + " is silent on both fabrics, so its groups are taken over. If it still runs, it"
              + " forwards them too, and packets come twice: look at its host, then at the"
              + " switches of both fabrics";
      case 1 -> bridge + " is heard on fabric a" + only("b");
      case 2 -> bridge + " is heard on fabric b" + only("a");
      default -> bridge + " is heard on both fabrics";
    };
  }

  private String only(String lost) {
    return before == 3
        ? " only: its beacons on fabric "
            + lost
            + " are lost. Nothing moves, but look at fabric "
            + lost
            + " before the other one fails too"
        : " again";
  }

  /** Returns whether the change is a degradation. */
  public boolean isWarning() {
    return !left && Integer.bitCount(now) < Integer.bitCount(before);
  }
}
