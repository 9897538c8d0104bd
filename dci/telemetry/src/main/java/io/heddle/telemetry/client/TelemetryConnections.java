package io.heddle.telemetry.client;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.heddle.telemetry.gnmi.GrpcLog;
import io.heddle.telemetry.tls.TlsFiles;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Resources shared by a controller's clients: certificate, threads, timer and handshake permits.
 * With the permits, a hundred gateways connect a few at a time, each within its time limit.
 */
public final class TelemetryConnections implements AutoCloseable {
  /*
   * Limit of concurrent handshakes. A handshake takes about 50 ms of processor time before Java has
   * compiled the code.
   */
  private static final int MOST_HANDSHAKES = 4;

  /*
   * Longest time for which a host can delay other handshakes by accepting the connection and
   * staying silent.
   */
  private static final long LONGEST_PERMIT_MS = 5_000;

  private static final int MOST_THREADS = 4;
  private static final int CONNECT_MS = 2_000;
  private static final int LARGEST_MESSAGE_BYTES = 64 << 20;
  private static final long PING_SECONDS = 10;
  private static final long SILENCE_SECONDS = 5;
  private static final long END_SECONDS = 2;

  private final SslContext tls;
  private final long longestPermitMs;
  private final HandshakePermits permits = new HandshakePermits(MOST_HANDSHAKES);
  private final EventLoopGroup threads =
      new MultiThreadIoEventLoopGroup(
          Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors()),
          Thread.ofPlatform().name("heddle-telemetry-io-", 0).daemon().factory(),
          NioIoHandler.newFactory());
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("heddle-telemetry-retry").daemon().factory());

  /**
   * Loads the certificates. Opens no connection yet.
   *
   * @throws io.heddle.platform.HeddleException if a file can't be used
   */
  public TelemetryConnections(TlsFiles files) {
    this(files, LONGEST_PERMIT_MS);
  }

  TelemetryConnections(TlsFiles files, long longestPermitMs) {
    GrpcLog.severeOnly();
    tls = files.client();
    this.longestPermitMs = longestPermitMs;
  }

  /** Starts a subscription in the calling thread's network namespace. */
  public TelemetryClient subscribe(TelemetryTarget target, TelemetryListener listener) {
    return TelemetryClient.start(target, listener, this);
  }

  /** Returns a new channel, which connects at its first call. */
  ManagedChannel channel(TelemetryTarget target) {
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(target.host(), target.port())
            .sslContext(tls)
            .eventLoopGroup(threads)
            .channelFactory(this::connection)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MS)
            .maxInboundMessageSize(LARGEST_MESSAGE_BYTES)
            .keepAliveTime(PING_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(SILENCE_SECONDS, TimeUnit.SECONDS);
    String serverName = target.serverName();
    if (serverName != null) {
      builder.overrideAuthority(serverName);
    }
    return builder.build();
  }

  private Channel connection() {
    NioSocketChannel channel = new NioSocketChannel();
    channel.pipeline().addFirst(new HandshakeGate(permits, longestPermitMs));
    return channel;
  }

  void later(Runnable what, long delayMs) {
    timer.schedule(what, delayMs, TimeUnit.MILLISECONDS);
  }

  /** Ends the threads. All clients must have been closed before. */
  @Override
  public void close() {
    timer.shutdownNow();
    threads.shutdownGracefully(0, END_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
