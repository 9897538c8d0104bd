package io.heddle.transport.connection;

import io.heddle.addr.AddressText;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.control.ControlTasks;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Attempts to connect to a listener by its addresses until one is answered.
 *
 * <p>Addresses are tried in turn: the next one when an attempt fails or stays silent for a while.
 * An accepted connection stays open beside later attempts until one attempt is answered: a process
 * on a busy host is slow, and reconnecting wouldn't speed it up. An address that the network
 * doesn't reach is tried again in further rounds, since routes may be about to change.
 *
 * <p>Control thread only.
 */
final class ConnectAttempts {
  /* Pause between two rounds of attempts at all addresses, in ns. */
  private static final long PAUSE_NS = 200_000_000;

  /* Silence after which the next address is tried. */
  private static final long MAX_SILENCE_NS = 2_000_000_000L;

  /* Maximum number of attempts at an address that accepts and then closes without a message. */
  private static final int MAX_SILENT_CLOSES = 3;

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final ControlMessage.Hello hello;
  private final long silenceLimitNs;
  private final BiConsumer<ControlChannel, ControlMessage.Hello> onAnswer;
  private final Consumer<String> onFailure;
  private final List<Attempt> attempts;

  private @Nullable Attempt current;
  private int next;
  private boolean pausing;
  private boolean isEnded;

  /**
   * @param tasks tasks of the owner of these attempts
   * @param hello first message on each connection
   * @param limitNs time after which the owner calls {@link #hangUp} at the latest
   * @param onAnswer called once, with the channel and the answer; the other attempts are closed by
   *     then
   * @param onFailure called once, with the reasons, if no address leads to the listener
   */
  ConnectAttempts(
      ControlLoop loop,
      ControlTasks tasks,
      List<InetSocketAddress> addresses,
      ControlMessage.Hello hello,
      long limitNs,
      BiConsumer<ControlChannel, ControlMessage.Hello> onAnswer,
      Consumer<String> onFailure) {
    this.loop = loop;
    this.tasks = tasks;
    this.hello = hello;
    this.silenceLimitNs = Math.min(MAX_SILENCE_NS, limitNs / (addresses.size() + 1));
    this.onAnswer = onAnswer;
    this.onFailure = onFailure;
    this.attempts = addresses.stream().map(Attempt::new).toList();
  }

  /** Tries the next address, unless an attempt at another address is current. */
  void connectNext() {
    if (isEnded || current != null || pausing) {
      return;
    }
    while (next < attempts.size()) {
      Attempt attempt = attempts.get(next++);
      if (attempt.state == State.DUE) {
        current = attempt;
        attempt.begin();
        return;
      }
    }
    if (attempts.stream().anyMatch(attempt -> attempt.state == State.DUE)) {
      pausing = true;
      tasks.schedule(
          PAUSE_NS,
          () -> {
            pausing = false;
            next = 0;
            connectNext();
          });
    } else if (attempts.stream().noneMatch(attempt -> attempt.state == State.CALLING)) {
      hangUp();
      onFailure.accept(failures());
    }
  }

  /** Ends all attempts without a notification. */
  void hangUp() {
    isEnded = true;
    attempts.forEach(Attempt::hangUp);
  }

  /** Returns the failure of each address; empty where there was none. */
  String failures() {
    return attempts.stream()
        .map(attempt -> attempt.failure)
        .filter(trouble -> !trouble.isEmpty())
        .collect(Collectors.joining("; "));
  }

  /** Returns the failures at the timeout, unanswered addresses included. */
  String failuresAfter(long waitedNs) {
    for (Attempt attempt : attempts) {
      if (attempt.channel != null || attempt.failure.isEmpty()) {
        attempt.failure =
            "%s did not answer within %s ms"
                .formatted(AddressText.of(attempt.address), waitedNs / 1_000_000);
      }
    }
    return failures();
  }

  private enum State {
    DUE,
    CALLING,
    /** The process at the address isn't the listener, or has refused this end. */
    REJECTED
  }

  static String otherVersion(String peer, ControlMessage.Hello hello) {
    return "%s speaks version %s of Heddle's protocol, this is version %s; run the same release on both"
        .formatted(peer, hello.version(), ControlCodec.VERSION);
  }

  /*
   * Describes a Hello that isn't an answer. If it is a copy of ours, the process at the address
   * merely echoes and needn't know the token.
   */
  private String describeEcho(String peer, ControlMessage.Hello said) {
    return said.call() == hello.call() && MessageDigest.isEqual(said.token(), hello.token())
        ? peer
            + " echoes what is sent to it; it isn't the listener, see which program has that port"
        : peer + " sent Hello as a connecting end; it isn't the listener";
  }

  /** Returns the reason to refuse a peer whose release has no queue pairs that span planes. */
  static String noPacketPolicy(String peer) {
    return ("HEDDLE_POLICY=packet is set here, and the release of Heddle on %s doesn't support it;"
            + " run the same release on both, or set another policy here")
        .formatted(peer);
  }

  static String otherToken(String peer) {
    return peer
        + " does not know this listener's token; it is not the peer that NCCL gave the handle to";
  }

  /** Attempts at one address. */
  private final class Attempt implements ControlChannel.Listener {
    private final InetSocketAddress address;
    private State state = State.DUE;
    private String failure = "";
    private int begun;

    /* Channel of the present attempt, set once the connection was accepted. */
    private @Nullable ControlChannel channel;
    private @Nullable ControlChannel calling;

    Attempt(InetSocketAddress address) {
      this.address = address;
    }

    void begin() {
      state = State.CALLING;
      int attempt = ++begun;
      tasks.schedule(
          silenceLimitNs,
          () -> {
            if (attempt == begun && current == this) {
              onSilence();
            }
          });
      ControlChannel opening = ControlChannel.connect(loop, address, this);
      if (state == State.CALLING && channel == null) {
        calling = opening;
      }
    }

    private void onSilence() {
      failure =
          "%s: no answer within %s ms"
              .formatted(AddressText.of(address), silenceLimitNs / 1_000_000);
      if (channel == null) {
        hangUp();
        state = State.DUE;
      }
      current = null;
      connectNext();
    }

    @Override
    public void onConnected(ControlChannel connected) {
      channel = connected;
      calling = null;
      connected.send(hello);
    }

    @Override
    public void onMessage(ControlMessage message) {
      ControlChannel open = channel;
      if (open == null) {
        return;
      }
      switch (message) {
        case ControlMessage.Hello answer -> onAnswer(open, answer);
        case ControlMessage.Refused refused ->
            end(State.REJECTED, AddressText.of(address) + " refused: " + refused.reason());
        default ->
            end(
                State.REJECTED,
                AddressText.of(address)
                    + " sent "
                    + message.getClass().getSimpleName()
                    + " before Hello");
      }
    }

    private void onAnswer(ControlChannel open, ControlMessage.Hello answer) {
      if (answer.version() != ControlCodec.VERSION) {
        end(State.REJECTED, otherVersion(AddressText.of(address), answer));
      } else if (!answer.isAnswer()) {
        end(State.REJECTED, describeEcho(AddressText.of(address), answer));
      } else if (!MessageDigest.isEqual(answer.token(), hello.token())) {
        end(State.REJECTED, otherToken(AddressText.of(address)));
      } else {
        channel = null;
        ConnectAttempts.this.hangUp();
        onAnswer.accept(open, answer);
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      /* A flooded listener may have evicted us before it read our Hello. */
      boolean again =
          how == ControlChannel.Ending.NETWORK
              || how == ControlChannel.Ending.PEER && begun < MAX_SILENT_CLOSES;
      end(again ? State.DUE : State.REJECTED, reason);
    }

    private void end(State then, String reason) {
      hangUp();
      state = then;
      failure = reason;
      if (current == this) {
        current = null;
      }
      connectNext();
    }

    private void hangUp() {
      ControlChannel open = channel;
      ControlChannel opening = calling;
      channel = null;
      calling = null;
      if (open != null) {
        open.close();
      }
      if (opening != null) {
        opening.close();
      }
    }
  }
}
