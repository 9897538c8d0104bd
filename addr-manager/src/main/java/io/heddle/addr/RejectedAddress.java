package io.heddle.addr;

/**
 * Address that carries no plane.
 *
 * @param reason the reason, as a clause
 */
public record RejectedAddress(AssignedAddress address, NetworkLink link, String reason) {
  @Override
  public String toString() {
    return address + " on " + link.name() + " isn't used: " + reason;
  }
}
