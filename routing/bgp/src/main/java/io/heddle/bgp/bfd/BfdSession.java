package io.heddle.bgp.bfd;

import io.heddle.platform.NanoClock;
import java.util.random.RandomGenerator;

/**
 * BFD session with one peer (RFC 5880 §6.8), asynchronous mode. It has no sockets or threads: the
 * caller passes packets to {@link #received} and calls {@link #tick} when it is due. For one
 * thread.
 */
final class BfdSession {
  /** Actions that the session requests from its owner when packets arrive or time passes. */
  interface Actions {
    void send(BfdPacket packet);

    /**
     * @param why reason why the session went down; empty if it came up
     */
    void changed(boolean up, String why);
  }

  /* RFC 5880 §6.8.3: minimum interval between our packets while the session isn't up. */
  private static final long SLOW_MICROS = 1_000_000;

  private final BfdOptions options;
  private final int discriminator;
  private final NanoClock clock;
  private final RandomGenerator random;
  private final Actions actions;
  private BfdState state = BfdState.DOWN;
  private int diagnostic;
  private int peerDiscriminator;
  private boolean polling;
  private long peerRequiredRxMicros = 1;
  private long peerDesiredTxMicros = 1;
  private int peerMultiplier = 1;
  private long sendNs;
  private long receivedNs;

  BfdSession(
      BfdOptions options,
      int discriminator,
      NanoClock clock,
      RandomGenerator random,
      Actions actions) {
    this.options = options;
    this.discriminator = discriminator;
    this.clock = clock;
    this.random = random;
    this.actions = actions;
    this.sendNs = clock.nanoTime();
  }

  BfdState state() {
    return state;
  }

  int discriminator() {
    return discriminator;
  }

  private long intervalMicros() {
    return options.intervalMs() * 1_000L;
  }

  private long desiredTxMicros() {
    return state == BfdState.UP ? intervalMicros() : Math.max(SLOW_MICROS, intervalMicros());
  }

  /** Returns the detection time: if no packet arrives for this long, the session goes down. */
  long detectionNs() {
    return 1_000L * peerMultiplier * Math.max(intervalMicros(), peerDesiredTxMicros);
  }

  void received(BfdPacket packet) {
    peerDiscriminator = packet.myDiscriminator();
    peerRequiredRxMicros = packet.requiredRxMicros();
    peerDesiredTxMicros = packet.desiredTxMicros();
    peerMultiplier = packet.multiplier();
    receivedNs = clock.nanoTime();
    if (packet.isFinal()) {
      polling = false;
    }
    BfdState before = state;
    switch (packet.state()) {
      case ADMIN_DOWN -> {
        if (state != BfdState.DOWN) {
          /*
           * RFC 5882 §4.2: AdminDown of the peer says nothing about the path, so no change is
           * reported.
           */
          state = BfdState.DOWN;
          diagnostic = BfdPacket.NEIGHBOR_DOWN;
        }
      }
      case DOWN -> {
        if (state == BfdState.DOWN) {
          state = BfdState.INIT;
        } else if (state == BfdState.UP) {
          goDown(BfdPacket.NEIGHBOR_DOWN, "the peer reports that it receives no packet of ours");
        }
      }
      case INIT -> state = BfdState.UP;
      case UP -> {
        if (state == BfdState.INIT) {
          state = BfdState.UP;
        } else if (state == BfdState.DOWN) {
          /*
           * The peer must go down before it can come up with us. Our packets in state DOWN make it
           * go down.
           */
          diagnostic = BfdPacket.NEIGHBOR_DOWN;
        }
      }
    }
    if (before != BfdState.UP && state == BfdState.UP) {
      diagnostic = BfdPacket.NO_DIAGNOSTIC;
      polling = true;
      actions.changed(true, "");
    }
    if (packet.isPoll()) {
      send(false, true);
    } else if (state != before) {
      send(polling, false);
      scheduleNext();
    }
  }

  private void goDown(int reason, String why) {
    state = BfdState.DOWN;
    diagnostic = reason;
    polling = false;
    actions.changed(false, why);
  }

  void tick() {
    long nowNs = clock.nanoTime();
    boolean listening = state == BfdState.INIT || state == BfdState.UP;
    if (listening && nowNs - receivedNs >= detectionNs()) {
      boolean wasUp = state == BfdState.UP;
      String why =
          "BFD received nothing for %s ms, %s packets"
              .formatted((nowNs - receivedNs) / 1_000_000, peerMultiplier);
      state = BfdState.DOWN;
      diagnostic = BfdPacket.TIME_EXPIRED;
      peerDiscriminator = 0;
      polling = false;
      if (wasUp) {
        actions.changed(false, why);
      }
    }
    if (sendNs - nowNs <= 0) {
      /* RFC 5880 §6.8.7: a Required Min RX of 0 means that the peer wants no packets. */
      if (peerRequiredRxMicros > 0) {
        send(polling, false);
      }
      scheduleNext();
    }
  }

  /*
   * Shortens the interval at random by up to a quarter (RFC 5880 §6.8.7); with multiplier 1, by a
   * tenth at least.
   */
  private void scheduleNext() {
    long wholeNs = 1_000 * Math.max(desiredTxMicros(), peerRequiredRxMicros);
    double least = options.multiplier() == 1 ? 0.10 : 0;
    double less = least + random.nextDouble() * (0.25 - least);
    sendNs = clock.nanoTime() + (long) (wholeNs * (1 - less));
  }

  private void send(boolean poll, boolean last) {
    actions.send(
        new BfdPacket(
            diagnostic,
            state,
            poll && !last,
            last,
            options.multiplier(),
            discriminator,
            peerDiscriminator,
            desiredTxMicros(),
            intervalMicros()));
  }

  /** Signals to the peer that this end stops on purpose (AdminDown). */
  void stop() {
    state = BfdState.ADMIN_DOWN;
    diagnostic = BfdPacket.ADMINISTRATIVELY_DOWN;
    send(false, false);
  }

  /** Returns the nanoseconds until {@link #tick} is due. */
  long nextDeadlineNs() {
    long nowNs = clock.nanoTime();
    long next = sendNs - nowNs;
    if (state == BfdState.INIT || state == BfdState.UP) {
      next = Math.min(next, receivedNs + detectionNs() - nowNs);
    }
    return Math.max(0, next);
  }
}
