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
 * Calls a listener by its addresses until it answers by one of them.
 *
 * <p>Each address has its turn; the next one's comes where the call fails or is silent for a while.
 * A call that was taken stays beside those that follow, for as long as none is answered: a process
 * on a busy host is slow, and who hangs up and calls again is no sooner heard. An address that the
 * network doesn't lead to is called again, round after round: the network may be about to change
 * its routes.
 *
 * <p>Control thread only.
 */
final class ConnectAttempts {
  /* Between two rounds. */
  private static final long PAUSE_NS = 200_000_000;

  /* How long an address may be silent before the next one's turn. */
  private static final long PATIENCE_NS = 2_000_000_000L;

  /* So often an address is called that takes the call and closes it without a word. */
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
   * @param tasks of the owner of these calls
   * @param hello what to say
   * @param limitNs when {@link #hangUp} will come, at the latest
   * @param answered takes the channel and what was said, once; the other calls have been hung up
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

  /** Calls the next address, unless the turn is another's. */
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
      unanswered.accept(troubles());
    }
  }

  /** Ends all calls; nobody hears of them any more. */
  void hangUp() {
    over = true;
    calls.forEach(Call::hangUp);
  }

  /** What each address that gave trouble said, or didn't; empty where none did. */
  String troubles() {
    return calls.stream()
        .map(call -> call.trouble)
        .filter(trouble -> !trouble.isEmpty())
        .collect(Collectors.joining("; "));
  }

  /** The same at the end of all patience, with those that haven't answered. */
  String failuresAfter(long waitedNs) {
    for (Call call : calls) {
      if (call.channel != null || call.trouble.isEmpty()) {
        call.trouble =
            "%s did not answer within %s ms"
                .formatted(AddressText.of(call.address), waitedNs / 1_000_000);
      }
    }
    return troubles();
  }

  private enum State {
    DUE,
    CALLING,
    /** Somebody is there, and isn't the listener or won't have us. */
    TURNED_AWAY
  }

  static String otherVersion(String peer, ControlMessage.Hello hello) {
    return "%s speaks version %s of Heddle's protocol, this is version %s; run the same release on both"
        .formatted(peer, hello.version(), ControlCodec.VERSION);
  }

  /* Our own words are no proof that anybody is there who knows the token. */
  private String describeEcho(String peer, ControlMessage.Hello said) {
    return said.call() == hello.call() && MessageDigest.isEqual(said.token(), hello.token())
        ? peer
            + " echoes what is sent to it; it isn't the listener, see which program has that port"
        : peer + " says hello as an end that calls; it isn't the listener";
  }

  static String otherToken(String peer) {
    return peer
        + " does not know this listener's token; it is not the peer that NCCL gave the handle to";
  }

  /** One address. */
  private final class Call implements ControlChannel.Listener {
    private final InetSocketAddress address;
    private State state = State.DUE;
    private String trouble = "";
    private int begun;

    /* Once the call was taken. */
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
                    + " before it said hello");
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
      /* A listener that strangers besiege may have sent us away before it looked at our first word. */
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
