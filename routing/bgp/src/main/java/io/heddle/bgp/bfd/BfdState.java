package io.heddle.bgp.bfd;

/** RFC 5880 §4.1, by its numbers. */
public enum BfdState {
  ADMIN_DOWN,
  DOWN,
  INIT,
  UP
}
