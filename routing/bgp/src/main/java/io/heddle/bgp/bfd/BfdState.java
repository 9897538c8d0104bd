package io.heddle.bgp.bfd;

/** Session states of RFC 5880 §4.1, in order of their numbers. */
public enum BfdState {
  ADMIN_DOWN,
  DOWN,
  INIT,
  UP
}
