package io.heddle.transport.connection;

import io.heddle.addr.AddressText;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.RandomBytes;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlListener;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Listeners at which peers reconnect a lost control channel: one socket on each control and plane
 * address, for the transport's lifetime. A plane's listener moves with its plane. A reconnecting
 * peer presents its connection's ticket. Control thread, except for the constructor.
 */
public final class ReconnectListeners {
  /** Session to which a reconnecting peer's ticket belongs. */
  interface Session {
    /**
     * Sends a Ping on the session's present channel, then returns the Ping that answers the peer at
     * a reconnect listener. The order matters: after the answer, the peer waits only briefly for
     * the Ping on the channel.
     */
    ControlMessage.Ping pingForReconnect();

    /** Sets the reconnect addresses that the peer sent at a listener. */
    void peerAddressesChanged(ControlMessage.ReconnectAddresses theirs);

    /** Handles a change of this end's reconnect addresses. */
    void ownAddressesChanged();

    /** Handles the peer's switch to this channel, or its request for a new one. */
    void reconnected(ControlChannel fresh, ControlMessage.Ping theirs, long number);
  }

  private static final long CALLER_TIMEOUT_NS = 5_000_000_000L;

  private final ControlLoop loop;
  private final Log log;
  private final List<ControlListener> listeners = new ArrayList<>();
  private final Map<ByteBuffer, Session> links = new HashMap<>();

  /** Opens a listener on each of these addresses where that is possible. */
  public ReconnectListeners(ControlLoop loop, List<InetAddress> addresses, Log log) {
    this.loop = loop;
    this.log = log;
    new LinkedHashSet<>(addresses).forEach(this::open);
  }

  private void open(InetAddress address) {
    try {
      listeners.add(new ControlListener(loop, address, Caller::new));
    } catch (HeddleException refused) {
      log.info(
          "no reconnect listener on %s: %s",
          AddressText.of(address), String.valueOf(refused.getMessage()));
    }
  }

  /** Moves a plane's listener with its plane, and notifies all peers. */
  public void move(InetAddress before, InetAddress now) {
    listeners.stream().filter(each -> isAt(each, before)).forEach(ControlListener::close);
    listeners.removeIf(each -> isAt(each, before));
    if (listeners.stream().noneMatch(each -> isAt(each, now))) {
      open(now);
    }
    List.copyOf(links.values()).forEach(Session::ownAddressesChanged);
  }

  private static boolean isAt(ControlListener listener, InetAddress address) {
    return listener.address().getAddress().equals(address);
  }

  public List<InetSocketAddress> addresses() {
    return listeners.stream()
        .map(ControlListener::address)
        .limit(ControlCodec.MAX_RECONNECT_ADDRESSES)
        .toList();
  }

  byte[] newTicket() {
    return RandomBytes.of(ControlCodec.TOKEN_BYTES);
  }

  /** Registers the session of a ticket. */
  void register(byte[] ticket, Session link) {
    links.put(ByteBuffer.wrap(ticket), link);
  }

  void forget(byte[] ticket) {
    links.remove(ByteBuffer.wrap(ticket));
  }

  /**
   * Accepted connection of a reconnect listener. It is unauthenticated until it presents a ticket;
   * then it may become the session's next channel.
   */
  private final class Caller implements ControlChannel.Listener {
    private @Nullable ControlChannel channel;
    /*
     * Session of the caller's ticket. Null once the caller is gone: the timer of its timeout still
     * refers to this object, and must not keep the session in memory.
     */
    private @Nullable Session link;
    private long number;

    @Override
    public void onConnected(ControlChannel connected) {
      channel = connected;
    }

    @Override
    public void onMessage(ControlMessage message) {
      ControlChannel open = channel;
      Session found = link;
      if (open == null) {
        return;
      }
      if (found != null && message instanceof ControlMessage.Ping ping) {
        channel = null;
        link = null;
        found.reconnected(open, ping, number);
      } else if (found != null && message instanceof ControlMessage.ReconnectAddresses theirs) {
        found.peerAddressesChanged(theirs);
      } else if (found == null
          && message instanceof ControlMessage.Hello hello
          && hello.version() == ControlCodec.VERSION) {
        found = links.get(ByteBuffer.wrap(hello.token()));
        link = found;
        number = hello.call();
        if (found == null) {
          refuse("this connection is not known here");
        } else {
          open.markAuthenticated();
          loop.schedule(CALLER_TIMEOUT_NS, this::hangUp);
          open.send(found.pingForReconnect());
        }
      } else {
        refuse("not expected here");
      }
    }

    /*
     * Refuses the caller: this process doesn't know its connection, and the peer then gives that
     * connection up.
     */
    private void refuse(String reason) {
      ControlChannel open = channel;
      if (open != null) {
        channel = null;
        open.send(new ControlMessage.Refused(reason));
        open.closeWhenSent();
      }
    }

    /*
     * Closes the channel without sending Refused, so that a peer that was merely slow connects
     * again.
     */
    private void hangUp() {
      ControlChannel open = channel;
      link = null;
      if (open != null) {
        channel = null;
        open.close();
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      channel = null;
      link = null;
    }
  }
}
