package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.Options;
import io.heddle.platform.RandomBytes;
import io.heddle.spray.SprayPolicy;
import io.heddle.stats.PlaneCounters;
import io.heddle.stats.StatsFile;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlListener;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.PlaneDigest;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.options.InfinibandOptions;
import io.heddle.transport.options.TransportOptions;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Connector of a process: listens for connections and connects to listeners. Any thread; the work
 * is done on the control thread.
 */
public final class Connector {
  /** Reason for failures after the loss of the control thread. */
  public static final String CONTROL_LOST =
      "the control thread has failed (its error is logged before); this process can't connect any"
          + " more";

  /**
   * Time without a call after which a pending connection is abandoned. NCCL calls connect
   * repeatedly while it waits, and has no call to cancel.
   */
  private static final long IDLE_LIMIT_NS = 600_000_000_000L;

  private static final long SWEEP_PERIOD_NS = 60_000_000_000L;

  /**
   * Connection that {@link #connect} hasn't returned yet. Guarded by the monitor of {@link
   * #connecting}.
   */
  private static final class PendingConnect {
    private final Handshake<SendComm> handshake;
    private boolean isCalled = true;
    /*
     * Time of the last call, by the control thread's clock, which pauses while the process is
     * stopped.
     */
    private long lastCallNs;

    PendingConnect(Handshake<SendComm> handshake) {
      this.handshake = handshake;
    }

    /*
     * Returns whether the caller has been idle for this time. Called periodically: a caller that
     * has called since the last check counts as active now.
     */
    private boolean isIdle(long nowNs, long idleNs) {
      if (isCalled) {
        isCalled = false;
        lastCallNs = nowNs;
      }
      return nowNs - lastCallNs >= idleNs;
    }
  }

  private final Options options;
  private final String hostName;
  private volatile List<InetAddress> controlAddresses;
  private final ControlLoop loop;
  private final ReconnectListeners reconnectListeners;
  private final Log log;
  private final AtomicLong nextConnect = new AtomicLong(1);
  private final Long2ObjectHashMap<PendingConnect> connecting = new Long2ObjectHashMap<>();
  private final CallLimiter callLimiter = new CallLimiter();

  /**
   * @param hostName this process's name, for the log
   * @param controlAddresses addresses on which control channels are accepted
   */
  public Connector(
      Options options,
      String hostName,
      List<InetAddress> controlAddresses,
      ControlLoop loop,
      ReconnectListeners reconnectListeners,
      Log log) {
    this.options = options;
    this.hostName = hostName;
    this.controlAddresses = List.copyOf(controlAddresses);
    this.loop = loop;
    this.reconnectListeners = reconnectListeners;
    this.log = log;
    loop.every(SWEEP_PERIOD_NS, () -> abandonIdle(IDLE_LIMIT_NS));
  }

  /**
   * Abandons pending connections whose caller has been idle for this time; established ones are
   * closed. Control thread.
   */
  public void abandonIdle(long idleNs) {
    List<PendingConnect> unasked;
    synchronized (connecting) {
      if (connecting.isEmpty()) {
        return;
      }
      long now = loop.nanoTime();
      unasked = connecting.values().stream().filter(each -> each.isIdle(now, idleNs)).toList();
      connecting.values().removeAll(unasked);
    }
    for (PendingConnect each : unasked) {
      log.info(
          "a pending connection is abandoned: connect hasn't been called for it in %d s",
          idleNs / 1_000_000_000);
      each.handshake.abandon();
    }
  }

  /**
   * Starts listening and writes the 128-byte handle that NCCL carries to the connecting side. Never
   * blocks.
   *
   * @throws HeddleException when no address can be listened on
   */
  public ListenComm listen(
      NetDevice device, long handleAddress, CounterSource source, Log connectionLog) {
    requireControl();
    ListenComm listen = new ListenComm(loop, log);
    byte[] token = RandomBytes.of(ControlCodec.TOKEN_BYTES);
    ConnectionTerms terms = ConnectionTerms.ofListener(options, hostName, token);
    open(listen, device, terms, handleAddress, RecvComm::new, source, connectionLog);
    return listen;
  }

  /**
   * Starts listening like {@link #listen}, for initiators of one-sided operations.
   *
   * @param factory factory of the target's end
   */
  public <C extends Communicator> CommListener<C> listenOneSided(
      NetDevice device,
      long handleAddress,
      CommFactory<C> factory,
      CounterSource source,
      Log connectionLog) {
    requireControl();
    CommListener<C> listen = new CommListener<>(loop, log);
    byte[] token = RandomBytes.of(ControlCodec.TOKEN_BYTES);
    ConnectionTerms terms = ConnectionTerms.ofListener(options, hostName, token).withPairPerPlane();
    open(listen, device, terms, handleAddress, factory, source, connectionLog);
    return listen;
  }

  private <C extends Communicator> void open(
      CommListener<C> listen,
      NetDevice device,
      ConnectionTerms terms,
      long handleAddress,
      CommFactory<C> factory,
      CounterSource source,
      Log connectionLog) {
    Supplier<Handshake<C>> maker =
        () -> handshake(device, terms, false, factory, source, connectionLog, listen::ended);
    listen.setListeners(listenOnAll(() -> listen.firstMessageListener(maker)));
    writeHandle(device, terms.token(), listen, handleAddress);
  }

  private static void writeHandle(
      NetDevice device, byte[] token, CommListener<?> listen, long handleAddress) {
    new ConnectionHandle(
            token,
            PlaneDigest.of(device.planes().stream().map(LocalPlane::key).toList()),
            listen.addresses())
        .write(handleAddress);
  }

  /** Replaces an address of this host among those on which later listeners listen. */
  public void move(InetAddress before, InetAddress now) {
    controlAddresses =
        controlAddresses.stream().map(each -> each.equals(before) ? now : each).distinct().toList();
  }

  /*
   * Listens on the control addresses. Some may have disappeared since the start; one remaining
   * address is enough.
   */
  private List<ControlListener> listenOnAll(Supplier<ControlChannel.Listener> accepted) {
    List<ControlListener> open = new ArrayList<>();
    HeddleException refused = null;
    for (InetAddress address : controlAddresses) {
      try {
        open.add(new ControlListener(loop, address, accepted));
      } catch (HeddleException failure) {
        refused = failure;
        log.info("%s", String.valueOf(failure.getMessage()));
      }
    }
    if (refused != null && open.isEmpty()) {
      throw refused;
    }
    return open;
  }

  private <C extends Communicator> Handshake<C> handshake(
      NetDevice device,
      ConnectionTerms terms,
      boolean connecting,
      CommFactory<C> factory,
      CounterSource source,
      Log connectionLog,
      Consumer<Handshake<C>> ended) {
    StatsFile.Direction direction =
        connecting ? StatsFile.Direction.SEND : StatsFile.Direction.RECEIVE;
    return new Handshake<>(
        loop,
        device,
        reconnectListeners,
        terms,
        connecting,
        connectionLog,
        (connection, sendClosing) -> {
          PlaneCounters[] counters = source.open(connection, direction);
          return factory.create(
              connection.parts(),
              sendClosing,
              counters,
              connectionLog,
              () -> source.close(counters));
        },
        ended);
  }

  /**
   * Connects step by step. Between two calls, the handle's buffer has the number under which this
   * process keeps the pending connection.
   *
   * @param trafficClass traffic class of the communicator; -1 where undefined
   * @param finish whether an established connection may be returned already
   * @return null while none is established; the caller calls again
   * @throws HeddleException when the connection can't be made
   */
  public @Nullable SendComm connect(
      NetDevice device,
      int trafficClass,
      long handleAddress,
      CounterSource source,
      Log connectionLog,
      boolean finish) {
    requireControl();
    long number = ConnectionHandle.state(handleAddress);
    if (number == 0) {
      ConnectionHandle.setState(
          handleAddress,
          beginConnecting(device, trafficClass, handleAddress, source, connectionLog));
      return null;
    }
    PendingConnect begun;
    synchronized (connecting) {
      begun = connecting.get(number);
      if (begun != null) {
        begun.isCalled = true;
      }
    }
    if (begun == null) {
      throw new HeddleException(
          "connect was called for a handle that is connected already, or wasn't called for "
              + IDLE_LIMIT_NS / 1_000_000_000
              + " s before");
    }
    HandshakeOutcome<SendComm> outcome = begun.handshake.outcome();
    if (outcome == null || !finish) {
      return null;
    }
    synchronized (connecting) {
      connecting.remove(number);
    }
    return outcome.require();
  }

  /**
   * Connects to a peer for one-sided operations. Never blocks.
   *
   * @param trafficClass traffic class of the communicator; -1 where undefined
   * @param factory factory of the initiator's end
   * @throws HeddleException when the handle isn't a valid one
   */
  public <C extends Communicator> Handshake<C> connectOneSided(
      NetDevice device,
      int trafficClass,
      long handleAddress,
      CommFactory<C> factory,
      CounterSource source,
      Log connectionLog) {
    requireControl();
    ConnectionHandle handle = requireHandleOfThisRelease(handleAddress);
    ConnectionTerms terms =
        ConnectionTerms.ofInitiator(options, hostName, handle.token(), trafficClass)
            .withPairPerPlane();
    return call(handle, device, terms, factory, source, connectionLog);
  }

  /** Returns a new spray policy of the kind that this process's options name. */
  public SprayPolicy newPolicy() {
    return SprayPolicy.named(options.get(TransportOptions.POLICY), RandomBytes.nextLong());
  }

  private <C extends Communicator> Handshake<C> call(
      ConnectionHandle handle,
      NetDevice device,
      ConnectionTerms terms,
      CommFactory<C> factory,
      CounterSource source,
      Log connectionLog) {
    Handshake<C> handshake =
        handshake(
            device, terms, true, factory, source, connectionLog, ended -> callLimiter.onEnded());
    loop.execute(() -> callLimiter.begin(() -> handshake.call(handle)));
    return handshake;
  }

  private static ConnectionHandle requireHandleOfThisRelease(long handleAddress) {
    ConnectionHandle handle = ConnectionHandle.read(handleAddress);
    if (handle == null) {
      throw new HeddleException(
          "the handle isn't one of this release of Heddle; every rank must run the same plugin and"
              + " release");
    }
    return handle;
  }

  private ConnectionHandle requireHandle(NetDevice device, long handleAddress) {
    ConnectionHandle handle = requireHandleOfThisRelease(handleAddress);
    if (ConnectionTerms.isPacketPolicy(options) && device.context().maxLinks() == 1) {
      throw new HeddleException(device.needsLinks());
    }
    return handle;
  }

  private long beginConnecting(
      NetDevice device,
      int trafficClass,
      long handleAddress,
      CounterSource source,
      Log connectionLog) {
    ConnectionHandle handle = requireHandle(device, handleAddress);
    ConnectionTerms terms =
        ConnectionTerms.ofInitiator(options, hostName, handle.token(), trafficClass);
    SprayPolicy policy = newPolicy();
    boolean splitsMessages = options.get(InfinibandOptions.SPLIT) == 1;
    Handshake<SendComm> handshake =
        call(
            handle,
            device,
            terms,
            (parts, sendClosing, counters, log, onClose) ->
                new SendComm(parts, sendClosing, policy, splitsMessages, counters, log, onClose),
            source,
            connectionLog);
    long number = nextConnect.getAndIncrement();
    synchronized (connecting) {
      connecting.put(number, new PendingConnect(handshake));
    }
    return number;
  }

  /**
   * Accepts the next connection.
   *
   * @param finish whether an established connection may be returned already
   * @return null while none is established; the caller calls again
   * @throws HeddleException when a peer that knew the token could not be connected
   */
  public <C extends Communicator> @Nullable C accept(CommListener<C> listener, boolean finish) {
    requireControl();
    HandshakeOutcome<C> outcome = finish ? listener.next() : null;
    return outcome == null ? null : outcome.require();
  }

  /**
   * Drops all pending connections, which can't finish without the control thread. The control
   * thread calls this when it ends.
   */
  public void controlLost() {
    callLimiter.cancelWaiting();
    synchronized (connecting) {
      connecting.clear();
    }
  }

  private void requireControl() {
    if (loop.isLost()) {
      throw new HeddleException(CONTROL_LOST);
    }
  }
}
