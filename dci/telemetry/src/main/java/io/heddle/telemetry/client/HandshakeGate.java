package io.heddle.telemetry.client;

import io.grpc.netty.shaded.io.netty.channel.ChannelDuplexHandler;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelPromise;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Channel handler that delays a TCP connection until it has a permit for a TLS handshake. The delay
 * comes before the connection because both ends limit the handshake to ten seconds, and the
 * server's limit begins with the connection. The permit is released after the handshake. Runs on
 * the channel's event loop.
 */
final class HandshakeGate extends ChannelDuplexHandler {
  /*
   * Longest time for which a connection attempt keeps its permit. Otherwise an absent host would
   * keep it until the connection timeout.
   */
  private static final long LONGEST_CONNECT_MS = 500;

  private final HandshakePermits permits;
  private final long longestPermitMs;
  private HandshakePermits.@Nullable Permit permit;

  /**
   * @param longestPermitMs time after which an unfinished handshake loses its permit but continues
   */
  HandshakeGate(HandshakePermits permits, long longestPermitMs) {
    this.permits = permits;
    this.longestPermitMs = longestPermitMs;
  }

  @Override
  public void connect(
      ChannelHandlerContext context,
      SocketAddress remote,
      SocketAddress local,
      ChannelPromise promise) {
    permit =
        permits.acquire(
            () -> context.executor().execute(() -> begin(context, remote, local, promise)));
  }

  private void begin(
      ChannelHandlerContext context,
      SocketAddress remote,
      SocketAddress local,
      ChannelPromise promise) {
    promise.addListener(connected -> {
      if (!connected.isSuccess()) {
        release();
      }
    });
    context.connect(remote, local, promise);
    context
        .executor()
        .schedule(
            () -> {
              if (!context.channel().isActive()) {
                release();
              }
            },
            LONGEST_CONNECT_MS,
            TimeUnit.MILLISECONDS);
    context.executor().schedule(this::release, longestPermitMs, TimeUnit.MILLISECONDS);
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    context.fireChannelActive();
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (tls == null) {
      release();
    } else {
      tls.handshakeFuture().addListener(any -> release());
    }
  }

  /* Releases the permit. Also called if the channel is closed while it waits for a permit. */
  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    release();
  }

  private void release() {
    HandshakePermits.Permit taken = permit;
    if (taken != null) {
      taken.release();
    }
  }
}
