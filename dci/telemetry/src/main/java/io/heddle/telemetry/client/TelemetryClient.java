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
import java.util.concurrent.TimeUnit;

/** A subscription to one target (STREAM, SAMPLE). Where it ends it begins anew, after a wait. */
public final class TelemetryClient implements AutoCloseable {
  private static final long FIRST_WAIT_MS = 500;
  private static final long LONGEST_WAIT_MS = 10_000;
  private static final long END_SECONDS = 2;

  private final TelemetryTarget target;
  private final TelemetryListener listener;
  private final TelemetryConnections connections;
  private final ManagedChannel channel;
  private long waitMs = FIRST_WAIT_MS;
  private boolean closed;

  private TelemetryClient(
      TelemetryTarget target, TelemetryListener listener, TelemetryConnections connections) {
    this.target = target;
    this.listener = listener;
    this.connections = connections;
    channel = connections.channel(target);
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
    StreamObserver<SubscribeRequest> questions =
        ClientCalls.asyncBidiStreamingCall(
            channel.newCall(GnmiMethods.SUBSCRIBE, CallOptions.DEFAULT), new Answers());
    questions.onNext(SubscribeRequest.newBuilder().setSubscribe(list).build());
  }

  private synchronized void heard() {
    waitMs = FIRST_WAIT_MS;
  }

  private synchronized void again() {
    if (!closed) {
      connections.later(this::subscribe, waitMs);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
      channel.resetConnectBackoff();
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private final class Answers implements StreamObserver<SubscribeResponse> {
    @Override
    public void onNext(SubscribeResponse answer) {
      if (answer.hasUpdate() && !isClosed()) {
        heard();
        listener.heard(ReportReader.read(answer.getUpdate()));
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
        again();
      }
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    channel.shutdownNow();
    try {
      channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
