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
 * <p>Addresses are tried in turn; the next one starts where an attempt fails or stays silent for a
 * while. An accepted connection stays open beside later attempts until one is answered: a process
 * on a busy host is slow, and reconnecting wouldn't speed it up. An address that the network
 * doesn't reach is tried again in further rounds, since routes may be about to change.
 *
 * <p>Control thread only.
 */
final class ConnectAttempts {
  /* Pause between two rounds. */
  private static final long PAUSE_NS = 200_000_000;

  /* Silence after which the next address is tried. */
  private static final long PATIENCE_NS = 2_000_000_000L;

  /* Maximum number of attempts at an address that accepts and then closes without a message. */
  private static final int MAX_SILENT_CLOSES = 3;

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final ControlMessage.Hello hello;
  private final long silenceLimitNs;
  private final BiConsumer<ControlChannel, ControlMessage.Hello> answered;
  private final Consumer<String> unanswered;
  private final List<Call> calls;

  private @Nullable Call current;
  private int next;
  private boolean resting;
  private boolean over;

  /**
   * @param tasks of the owner of these attempts
   * @param hello the message to send
   * @param limitNs time until {@link #hangUp}, at the latest
   * @param answered takes the channel and the answer, once; the other attempts are closed by then
   * @param unanswered takes the reasons where no address leads to the listener, once
   */
  ConnectAttempts(
      ControlLoop loop,
      ControlTasks tasks,
      List<InetSocketAddress> addresses,
      ControlMessage.Hello hello,
      long limitNs,
      BiConsumer<ControlChannel, ControlMessage.Hello> answered,
      Consumer<String> unanswered) {
    this.loop = loop;
    this.tasks = tasks;
    this.hello = hello;
    this.silenceLimitNs = Math.min(PATIENCE_NS, limitNs / (addresses.size() + 1));
    this.answered = answered;
    this.unanswered = unanswered;
    this.calls = addresses.stream().map(Call::new).toList();
  }

  /** Tries the next address, unless an attempt at another address is current. */
  void callNext() {
    if (over || current != null || resting) {
      return;
    }
    while (next < calls.size()) {
      Call call = calls.get(next++);
      if (call.state == State.DUE) {
        current = call;
        call.begin();
        return;
      }
    }
    if (calls.stream().anyMatch(call -> call.state == State.DUE)) {
      resting = true;
      tasks.schedule(
          PAUSE_NS,
          () -> {
            resting = false;
            next = 0;
            callNext();
          });
    } else if (calls.stream().noneMatch(call -> call.state == State.CALLING)) {
      hangUp();
      unanswered.accept(failures());
    }
  }

  /** Ends all attempts without a notification. */
  void hangUp() {
    over = true;
    calls.forEach(Call::hangUp);
  }

  /** Returns the failure of each address; empty where there was none. */
  String failures() {
    return calls.stream()
        .map(call -> call.trouble)
        .filter(trouble -> !trouble.isEmpty())
        .collect(Collectors.joining("; "));
  }

  /** Returns the failures at the timeout, unanswered addresses included. */
  String failuresAfter(long waitedNs) {
    for (Call call : calls) {
      if (call.channel != null || call.trouble.isEmpty()) {
        call.trouble =
            "%s did not answer within %s ms"
                .formatted(AddressText.of(call.address), waitedNs / 1_000_000);
      }
    }
    return failures();
  }

  private enum State {
    DUE,
    CALLING,
    /** The process at the address isn't the listener, or has refused this end. */
    TURNED_AWAY
  }

  static String otherVersion(String peer, ControlMessage.Hello hello) {
    return "%s speaks version %s of Heddle's protocol, this is version %s; run the same release on both"
        .formatted(peer, hello.version(), ControlCodec.VERSION);
  }

  /* An echo of our Hello is no proof of a process that knows the token. */
  private String describeEcho(String peer, ControlMessage.Hello said) {
    return said.call() == hello.call() && MessageDigest.isEqual(said.token(), hello.token())
        ? peer
            + " echoes what is sent to it; it isn't the listener, see which program has that port"
        : peer + " sent Hello as a connecting end; it isn't the listener";
  }

  static String otherToken(String peer) {
    return peer
        + " does not know this listener's token; it is not the peer that NCCL gave the handle to";
  }

  /** Attempts at one address. */
  private final class Call implements ControlChannel.Listener {
    private final InetSocketAddress address;
    private State state = State.DUE;
    private String trouble = "";
    private int begun;

    /* Channel of the present attempt, set once the connection was accepted. */
    private @Nullable ControlChannel channel;
    private @Nullable ControlChannel calling;

    Call(InetSocketAddress address) {
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
      ControlChannel untaken = ControlChannel.connect(loop, address, this);
      if (state == State.CALLING && channel == null) {
        calling = untaken;
      }
    }

    private void onSilence() {
      trouble =
          "%s: no answer within %s ms"
              .formatted(AddressText.of(address), silenceLimitNs / 1_000_000);
      if (channel == null) {
        hangUp();
        state = State.DUE;
      }
      current = null;
      callNext();
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
            end(State.TURNED_AWAY, AddressText.of(address) + " refused: " + refused.reason());
        default ->
            end(
                State.TURNED_AWAY,
                AddressText.of(address)
                    + " sent "
                    + message.getClass().getSimpleName()
                    + " before Hello");
      }
    }

    private void onAnswer(ControlChannel open, ControlMessage.Hello answer) {
      if (answer.version() != ControlCodec.VERSION) {
        end(State.TURNED_AWAY, otherVersion(AddressText.of(address), answer));
      } else if (!answer.isAnswer()) {
        end(State.TURNED_AWAY, describeEcho(AddressText.of(address), answer));
      } else if (!MessageDigest.isEqual(answer.token(), hello.token())) {
        end(State.TURNED_AWAY, otherToken(AddressText.of(address)));
      } else {
        channel = null;
        ConnectAttempts.this.hangUp();
        answered.accept(open, answer);
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      /* A flooded listener may have evicted us before it read our Hello. */
      boolean again =
          how == ControlChannel.Ending.NETWORK
              || how == ControlChannel.Ending.PEER && begun < MAX_SILENT_CLOSES;
      end(again ? State.DUE : State.TURNED_AWAY, reason);
    }

    private void end(State then, String reason) {
      hangUp();
      state = then;
      trouble = reason;
      if (current == this) {
        current = null;
      }
      callNext();
    }

    private void hangUp() {
      ControlChannel taken = channel;
      ControlChannel untaken = calling;
      channel = null;
      calling = null;
      if (taken != null) {
        taken.close();
      }
      if (untaken != null) {
        untaken.close();
      }
    }
  }
}
