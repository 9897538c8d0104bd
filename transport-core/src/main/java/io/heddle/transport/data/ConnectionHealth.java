package io.heddle.transport.data;

import io.heddle.platform.NanoClock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * State of both ends of a connection. Written by the control thread, unless stated otherwise, and
 * read by any.
 */
public final class ConnectionHealth {
  /**
   * Time for which a closed end keeps its queue pairs, so that the peer can retransmit after a lost
   * acknowledgement.
   */
  public static final long LINGER_NS = 5_000_000_000L;

  /** State of the peer, in order of severity. */
  public enum Peer {
    /** The peer is alive, as far as known. */
    ALIVE,

    /** The peer closed its end in good order; its earlier requests still complete. */
    CLOSED,

    /** The peer's control channel was lost. */
    LOST,

    /** The peer reported its own failure. */
    FAILED
  }

  private final NanoClock clock;

  /* Both fields are written before the volatile field peer, which publishes them. */
  private String peerReason = "";
  private long goneAtNs;
  private volatile Peer peer = Peer.ALIVE;
  private volatile boolean leaving;
  private volatile @Nullable String deviceFailure;
  /* Set before the communicator exists. */
  private Consumer<String> failureListener = reason -> {};

  public ConnectionHealth(NanoClock clock) {
    this.clock = clock;
  }

  public Peer peer() {
    return peer;
  }

  public boolean isPeerAlive() {
    return peer == Peer.ALIVE;
  }

  /**
   * Returns whether the peer has been gone for longer than this; meaningful once {@link #peer} says
   * that it is gone.
   */
  boolean isGoneLongerThan(long durationNs) {
    return clock.nanoTime() - goneAtNs > durationNs;
  }

  /** Returns how and why the peer is gone; meaningful once {@link #peer} says that it is gone. */
  public String peerReason() {
    return (peer == Peer.FAILED ? "the other end failed: " : "the peer is gone: ") + peerReason;
  }

  /** Records that the peer is gone, as the control channel reports. */
  public void peerGone(Peer state, String reason) {
    if (peer == Peer.ALIVE) {
      peerReason = reason;
      goneAtNs = clock.nanoTime();
      peer = state;
    }
  }

  /**
   * Sets the listener that reports this end's failure to the peer. Called before the communicator
   * exists; any thread may call the listener.
   */
  public void setFailureListener(Consumer<String> listener) {
    failureListener = listener;
  }

  /**
   * Reports the failure of this end's communicator to the peer, unless the peer is gone. Any
   * thread.
   */
  public void reportOwnFailure(String reason) {
    if (peer == Peer.ALIVE) {
      failureListener.accept(reason);
    }
  }

  /** Records the device's report that it, or a queue pair of this connection, is broken. */
  public void onDeviceFailure(String reason) {
    if (deviceFailure == null && peer == Peer.ALIVE && !leaving) {
      deviceFailure = reason;
    }
  }

  /** Returns the device's report; null where there is none. */
  @Nullable String deviceFailure() {
    return deviceFailure;
  }

  /** Records that this end has sent Closing, or is about to. Any thread. */
  public void leave() {
    leaving = true;
  }

  public boolean isLeaving() {
    return leaving;
  }
}
