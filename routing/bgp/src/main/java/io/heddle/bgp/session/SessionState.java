package io.heddle.bgp.session;

/** The six states of RFC 4271 §8.2.2. */
public enum SessionState {
  /** Not started, or waiting after an error; rejects connections. */
  IDLE,
  /** Waiting for TCP to connect. */
  CONNECT,
  /** Waiting for the peer to connect, or for the next attempt. */
  ACTIVE,
  /** Our OPEN is sent. */
  OPEN_SENT,
  /** The peer's OPEN was good; waiting for its KEEPALIVE. */
  OPEN_CONFIRM,
  /** Routes are exchanged. */
  ESTABLISHED
}
