package io.heddle.telemetry.client;

import io.grpc.netty.shaded.io.netty.channel.ChannelDuplexHandler;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelPromise;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets a channel wait for its turn before TCP connects: both ends limit a handshake to ten seconds,
 * and the server counts from the connection. The turn ends with the handshake. The channel's event
 * loop.
 */
final class HandshakeGate extends ChannelDuplexHandler {
  /* A host that is away answers nothing until the connection's own limit. */
  private static final long LONGEST_CONNECT_MS = 500;

  private final HandshakeTurns turns;
  private final long longestTurnMs;
  private HandshakeTurns.@Nullable Turn turn;

  /**
   * @param longestTurnMs a handshake that lasts longer goes on without its turn
   */
  HandshakeGate(HandshakeTurns turns, long longestTurnMs) {
    this.turns = turns;
    this.longestTurnMs = longestTurnMs;
  }

  @Override
  public void connect(
      ChannelHandlerContext context,
      SocketAddress remote,
      SocketAddress local,
      ChannelPromise promise) {
    turn =
        turns.take(() -> context.executor().execute(() -> begin(context, remote, local, promise)));
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
    context.executor().schedule(this::release, longestTurnMs, TimeUnit.MILLISECONDS);
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

  /* Also where the channel is closed while it waits. */
  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    release();
  }

  private void release() {
    HandshakeTurns.Turn taken = turn;
    if (taken != null) {
      taken.release();
    }
  }
}
