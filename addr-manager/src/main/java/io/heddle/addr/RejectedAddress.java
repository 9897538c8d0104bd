package io.heddle.addr;

/**
 * Address that no plane uses.
 *
 * @param reason reason why it isn't used, as a clause
 */
public record RejectedAddress(AssignedAddress address, NetworkLink link, String reason) {
  @Override
  public String toString() {
    return address + " on " + link.name() + " isn't used: " + reason;
  }
}
