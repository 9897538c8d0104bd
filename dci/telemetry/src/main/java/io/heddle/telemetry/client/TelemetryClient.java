package io.heddle.telemetry.client;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.heddle.telemetry.gnmi.GnmiMethods;
import io.heddle.telemetry.gnmi.ReportPath;
import io.heddle.telemetry.gnmi.ReportReader;
import io.heddle.telemetry.proto.Encoding;
import io.heddle.telemetry.proto.SubscribeRequest;
import io.heddle.telemetry.proto.SubscribeResponse;
import io.heddle.telemetry.proto.Subscription;
import io.heddle.telemetry.proto.SubscriptionList;
import io.heddle.telemetry.proto.SubscriptionMode;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Client with a subscription to one target (STREAM, SAMPLE). If the subscription ends, the client
 * subscribes again within two seconds. Each attempt has a new channel, since gRPC's back-off on an
 * old channel grows to two minutes.
 */
public final class TelemetryClient implements AutoCloseable {
  private static final long END_SECONDS = 2;

  private final TelemetryTarget target;
  private final TelemetryListener listener;
  private final TelemetryConnections connections;
  private final RetryWait wait = new RetryWait(new SplittableRandom());
  private @Nullable ManagedChannel channel;
  private boolean closed;

  private TelemetryClient(
      TelemetryTarget target, TelemetryListener listener, TelemetryConnections connections) {
    this.target = target;
    this.listener = listener;
    this.connections = connections;
  }

  static TelemetryClient start(
      TelemetryTarget target, TelemetryListener listener, TelemetryConnections connections) {
    TelemetryClient client = new TelemetryClient(target, listener, connections);
    client.subscribe();
    return client;
  }

  private synchronized void subscribe() {
    if (closed) {
      return;
    }
    SubscriptionList.Builder list =
        SubscriptionList.newBuilder()
            .setMode(SubscriptionList.Mode.STREAM)
            .setEncoding(Encoding.JSON_IETF);
    for (ReportPath each : target.paths()) {
      list.addSubscription(
          Subscription.newBuilder()
              .setPath(each.path())
              .setMode(SubscriptionMode.SAMPLE)
              .setSampleInterval(target.intervalNs()));
    }
    ManagedChannel fresh = connections.channel(target);
    channel = fresh;
    StreamObserver<SubscribeRequest> requests =
        ClientCalls.asyncBidiStreamingCall(
            fresh.newCall(GnmiMethods.SUBSCRIBE, CallOptions.DEFAULT), new Answers());
    requests.onNext(SubscribeRequest.newBuilder().setSubscribe(list).build());
  }

  private synchronized void resetWait() {
    wait.reset();
  }

  private synchronized void retry() {
    ManagedChannel old = channel;
    if (!closed && old != null) {
      old.shutdownNow();
      channel = null;
      connections.later(this::subscribe, wait.nextMs());
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private final class Answers implements StreamObserver<SubscribeResponse> {
    @Override
    public void onNext(SubscribeResponse answer) {
      if (answer.hasUpdate() && !isClosed()) {
        resetWait();
        listener.received(ReportReader.read(answer.getUpdate()));
      }
    }

    @Override
    public void onError(Throwable failed) {
      ended(SubscriptionEnd.sentence(target, Status.fromThrowable(failed)));
    }

    @Override
    public void onCompleted() {
      ended(target.name() + " has ended the subscription");
    }

    private void ended(String why) {
      if (!isClosed()) {
        listener.lost(why);
        retry();
      }
    }
  }

  @Override
  public void close() {
    ManagedChannel last;
    synchronized (this) {
      closed = true;
      last = channel;
    }
    if (last == null) {
      return;
    }
    last.shutdownNow();
    try {
      last.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
