package io.heddle.transport.data;

import io.heddle.platform.NanoClock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether the two ends of a connection are there and well. Written by the control thread, where
 * nothing else is said, and read by any.
 */
public final class ConnectionHealth {
  /** As long a peer that has closed may still be asked for an acknowledgement that was lost. */
  public static final long LINGER_NS = 5_000_000_000L;

  /** The other end, in order of gravity. */
  public enum Peer {
    /** There as far as we know. */
    ALIVE,

    /** It closed its end in good order; what it sent before still completes. */
    CLOSED,

    /** Its control channel broke. */
    LOST,

    /** It said that it failed by itself. */
    FAILED
  }

  private final NanoClock clock;

  /* The reason is written first. */
  private String peerReason = "";
  private long goneAtNs;
  private volatile Peer peer = Peer.ALIVE;
  private volatile boolean leaving;
  private volatile @Nullable String deviceFailure;
  /* Set before the communicator exists. */
  private Consumer<String> peersEar = story -> {};

  public ConnectionHealth(NanoClock clock) {
    this.clock = clock;
  }

  public Peer peer() {
    return peer;
  }

  public boolean isPeerAlive() {
    return peer == Peer.ALIVE;
  }

  /** Whether it is gone for so long; meaningful once {@link #peer} says that it is. */
  boolean isGoneLongerThan(long durationNs) {
    return clock.nanoTime() - goneAtNs > durationNs;
  }

  /** How and why the peer is gone; meaningful once {@link #peer} says so. */
  public String peerReason() {
    return (peer == Peer.FAILED ? "the other end failed: " : "the peer is gone: ") + peerReason;
  }

  /** The control channel says that the peer is gone. */
  public void peerGone(Peer state, String reason) {
    if (peer == Peer.ALIVE) {
      peerReason = reason;
      goneAtNs = clock.nanoTime();
      peer = state;
    }
  }

  /**
   * Who carries word of our failure to the peer, from any thread. Before the communicator exists.
   */
  public void setFailureListener(Consumer<String> ear) {
    peersEar = ear;
  }

  /** This end's communicator failed; the peer hears why, unless it is gone itself. Any thread. */
  public void failedHere(String story) {
    if (peer == Peer.ALIVE) {
      peersEar.accept(story);
    }
  }

  /** The device says that it, or a queue pair of this connection, is broken. */
  public void deviceFailed(String story) {
    if (deviceFailure == null && peer == Peer.ALIVE && !leaving) {
      deviceFailure = story;
    }
  }

  /** What the device said; null while nothing. */
  @Nullable String deviceFailure() {
    return deviceFailure;
  }

  /** This end has said goodbye, or is about to. Any thread. */
  public void leave() {
    leaving = true;
  }

  public boolean isLeaving() {
    return leaving;
  }
}
