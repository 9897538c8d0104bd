package io.heddle.telemetry.server;

import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.stub.ServerCalls;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.telemetry.gnmi.GnmiMethods;
import io.heddle.telemetry.gnmi.GrpcLog;
import io.heddle.telemetry.proto.CapabilityResponse;
import io.heddle.telemetry.proto.Encoding;
import io.heddle.telemetry.proto.ModelData;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.tls.TlsFiles;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * gNMI server with the methods Capabilities and Subscribe. It accepts only clients that have a
 * certificate of a trusted authority.
 */
public final class TelemetryServer implements AutoCloseable {
  /** Port that IANA assigns to gNMI. */
  public static final int PORT = 9339;

  private static final long END_SECONDS = 2;

  /*
   * Shortest allowed interval of keep-alive pings, which is below the 10 s of our clients. With
   * gRPC's default of 5 minutes, the server would close our clients' connections for too many
   * pings.
   */
  private static final long LEAST_PING_SECONDS = 5;

  private final EventLoopGroup loop;
  private final Server server;
  private final ScheduledExecutorService sampler;

  private TelemetryServer(EventLoopGroup loop, Server server, ScheduledExecutorService sampler) {
    this.loop = loop;
    this.server = server;
    this.sampler = sampler;
  }

  /**
   * Listens in the calling thread's network namespace.
   *
   * @param at address and port; port 0 for any free port
   * @param source returns a report; called on the server's own thread, at most as often as a client
   *     requests samples
   * @throws HeddleException if a file or the address can't be used
   */
  public static TelemetryServer start(
      InetSocketAddress at, TlsFiles files, Supplier<GatewayReport> source, Log log) {
    GrpcLog.severeOnly();
    ScheduledThreadPoolExecutor sampler =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("heddle-telemetry").daemon().factory());
    /* Removes cancelled timers at once: a client may have requested an interval of years. */
    sampler.setRemoveOnCancelPolicy(true);
    Subscriptions subscriptions = new Subscriptions(source, sampler, log);
    ServerServiceDefinition service =
        ServerServiceDefinition.builder(GnmiMethods.SERVICE)
            .addMethod(
                GnmiMethods.CAPABILITIES,
                ServerCalls.asyncUnaryCall((request, answer) -> {
                  answer.onNext(capabilities());
                  answer.onCompleted();
                }))
            .addMethod(
                GnmiMethods.SUBSCRIBE, ServerCalls.asyncBidiStreamingCall(subscriptions::begin))
            .build();
    /*
     * Uses a thread of the server's own to create the sockets, in the calling thread's namespace.
     * gRPC's shared threads stay in the namespace of the first server.
     */
    EventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(
            1,
            Thread.ofPlatform().name("heddle-telemetry-net").daemon().factory(),
            NioIoHandler.newFactory());
    boolean begun = false;
    try {
      Server server =
          NettyServerBuilder.forAddress(at)
              .channelType(NioServerSocketChannel.class)
              .bossEventLoopGroup(loop)
              .workerEventLoopGroup(loop)
              .sslContext(files.server())
              .permitKeepAliveTime(LEAST_PING_SECONDS, TimeUnit.SECONDS)
              .addService(service)
              .build()
              .start();
      begun = true;
      return new TelemetryServer(loop, server, sampler);
    } catch (IOException refused) {
      throw new HeddleException(
          "telemetry can't listen at %s port %s: %s"
              .formatted(
                  at.getAddress().getHostAddress(),
                  at.getPort(),
                  refused.getCause() == null
                      ? refused.getMessage()
                      : refused.getCause().getMessage()),
          refused);
    } finally {
      if (!begun) {
        sampler.shutdownNow();
        end(loop);
      }
    }
  }

  private static CapabilityResponse capabilities() {
    return CapabilityResponse.newBuilder()
        .addSupportedModels(
            ModelData.newBuilder()
                .setName("heddle-dci")
                .setOrganization("Heddle")
                .setVersion("2026-11-26"))
        .addSupportedEncodings(Encoding.JSON_IETF)
        .addSupportedEncodings(Encoding.JSON)
        .setGNMIVersion(GnmiMethods.VERSION)
        .build();
  }

  public int port() {
    return server.getPort();
  }

  @Override
  public void close() {
    server.shutdownNow();
    sampler.shutdownNow();
    try {
      server.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    end(loop);
  }

  private static void end(EventLoopGroup loop) {
    loop.shutdownGracefully(0, END_SECONDS, TimeUnit.SECONDS);
  }
}
