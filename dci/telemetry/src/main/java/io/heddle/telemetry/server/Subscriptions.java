package io.heddle.telemetry.server;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.heddle.platform.FaultReporter;
import io.heddle.platform.Log;
import io.heddle.telemetry.gnmi.GnmiMethods;
import io.heddle.telemetry.gnmi.ReportPath;
import io.heddle.telemetry.gnmi.ReportWriter;
import io.heddle.telemetry.proto.Encoding;
import io.heddle.telemetry.proto.SubscribeRequest;
import io.heddle.telemetry.proto.SubscribeResponse;
import io.heddle.telemetry.proto.Subscription;
import io.heddle.telemetry.proto.SubscriptionList;
import io.heddle.telemetry.proto.SubscriptionMode;
import io.heddle.telemetry.report.GatewayReport;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Subscriptions of all clients: ONCE, POLL, and STREAM with samples. */
final class Subscriptions {
  private final Supplier<GatewayReport> source;
  private final ScheduledExecutorService sampler;
  private final FaultReporter faults;

  Subscriptions(Supplier<GatewayReport> source, ScheduledExecutorService sampler, Log log) {
    this.source = source;
    this.sampler = sampler;
    faults = new FaultReporter("telemetry", log);
  }

  StreamObserver<SubscribeRequest> begin(StreamObserver<SubscribeResponse> answers) {
    Stream stream = new Stream((ServerCallStreamObserver<SubscribeResponse>) answers);
    stream.answers.setOnCancelHandler(stream::end);
    stream.answers.setOnReadyHandler(stream::ready);
    return stream;
  }

  /** Paths and sample interval that one subscription requests. */
  private record SampleRequest(Set<ReportPath> paths, long intervalNs) {}

  /** State of one call of Subscribe. Its answers are sent on the sampler's thread. */
  private final class Stream implements StreamObserver<SubscribeRequest> {
    private final ServerCallStreamObserver<SubscribeResponse> answers;
    private final List<ScheduledFuture<?>> timers = new ArrayList<>();
    private @Nullable SubscriptionList started;
    private List<SampleRequest> wanted = List.of();
    /* Samples that became due while the client was still reading earlier ones; the oldest first. */
    private final Set<SampleRequest> due = new LinkedHashSet<>();
    private boolean ended;

    Stream(ServerCallStreamObserver<SubscribeResponse> answers) {
      this.answers = answers;
    }

    @Override
    public void onNext(SubscribeRequest request) {
      sampler.execute(() -> {
        try {
          take(request);
        } catch (StatusRuntimeException refused) {
          refuse(refused);
        } catch (Throwable failed) {
          /*
           * Reports the error, which the executor would otherwise swallow. Answers the client,
           * which would otherwise wait for ever.
           */
          FaultReporter.releaseReserve();
          faults.report("a subscription", failed);
          refuse(refusal(Status.INTERNAL, "the gateway can't answer; its log says why"));
        }
      });
    }

    private void take(SubscribeRequest request) {
      SubscriptionList known = started;
      if (request.hasPoll()) {
        if (known == null || known.getMode() != SubscriptionList.Mode.POLL) {
          throw refusal(Status.INVALID_ARGUMENT, "Poll is for a subscription of mode POLL");
        }
        sendAll();
        return;
      }
      if (!request.hasSubscribe() || known != null) {
        throw refusal(
            Status.INVALID_ARGUMENT, "a stream has one SubscriptionList, in its first message");
      }
      SubscriptionList list = request.getSubscribe();
      wanted = wanted(list);
      started = list;
      switch (list.getMode()) {
        case ONCE -> {
          sendInitial(list);
          ended = true;
          answers.onCompleted();
        }
        case POLL -> {}
        case STREAM -> {
          sendInitial(list);
          for (SampleRequest each : wanted) {
            timers.add(
                sampler.scheduleAtFixedRate(
                    () -> sample(each),
                    each.intervalNs(),
                    each.intervalNs(),
                    TimeUnit.NANOSECONDS));
          }
        }
        case UNRECOGNIZED -> throw refusal(Status.INVALID_ARGUMENT, "unknown subscription mode");
      }
    }

    /*
     * Sends the initial answer. A client that sets updates_only already knows the state, so it gets
     * only the sync message.
     */
    private void sendInitial(SubscriptionList list) {
      if (list.getUpdatesOnly()) {
        sync();
      } else {
        sendAll();
      }
    }

    private void sendAll() {
      GatewayReport report = source.get();
      wanted.forEach(each -> send(each, report));
      sync();
    }

    private void sync() {
      answers.onNext(SubscribeResponse.newBuilder().setSyncResponse(true).build());
    }

    /*
     * Sends a sample, or marks it as due until the client is ready. So a slow client gets fewer
     * samples, and no queue grows.
     */
    private void sample(SampleRequest each) {
      due.add(each);
      sendDue();
    }

    private void ready() {
      execute(this::sendDue);
    }

    private void sendDue() {
      try {
        while (!ended && !due.isEmpty() && answers.isReady()) {
          SampleRequest first = due.iterator().next();
          due.remove(first);
          send(first, source.get());
        }
      } catch (StatusRuntimeException gone) {
        finish();
      } catch (Throwable failed) {
        /* Catches every error, since an exception would silently end the timer. */
        FaultReporter.releaseReserve();
        faults.report("a sample", failed);
      }
    }

    private void send(SampleRequest each, GatewayReport report) {
      for (ReportPath path : each.paths()) {
        answers.onNext(
            SubscribeResponse.newBuilder().setUpdate(ReportWriter.write(path, report)).build());
      }
    }

    private void refuse(StatusRuntimeException refused) {
      if (!ended) {
        finish();
        answers.onError(refused);
      }
    }

    @Override
    public void onError(Throwable gone) {
      end();
    }

    @Override
    public void onCompleted() {
      sampler.execute(() -> {
        if (!ended) {
          finish();
          answers.onCompleted();
        }
      });
    }

    private void end() {
      execute(this::finish);
    }

    private void execute(Runnable what) {
      try {
        sampler.execute(what);
      } catch (RejectedExecutionException closing) {
        /* The server is being closed, which has ended all timers. */
      }
    }

    private void finish() {
      ended = true;
      due.clear();
      timers.forEach(each -> each.cancel(false));
    }
  }

  private static List<SampleRequest> wanted(SubscriptionList list) {
    if (list.getEncoding() != Encoding.JSON_IETF && list.getEncoding() != Encoding.JSON) {
      throw refusal(
          Status.UNIMPLEMENTED,
          "encoding " + list.getEncoding() + " isn't supported; use JSON_IETF or JSON");
    }
    if (list.getSubscriptionCount() == 0) {
      throw refusal(
          Status.INVALID_ARGUMENT,
          "the list has no subscription; the paths are " + ReportPath.all());
    }
    List<SampleRequest> wanted = new ArrayList<>();
    for (Subscription each : list.getSubscriptionList()) {
      if (each.getMode() == SubscriptionMode.ON_CHANGE
          && list.getMode() == SubscriptionList.Mode.STREAM) {
        throw refusal(Status.UNIMPLEMENTED, "ON_CHANGE isn't supported; use SAMPLE");
      }
      Set<ReportPath> paths = new TreeSet<>(ReportPath.under(list.getPrefix(), each.getPath()));
      if (paths.isEmpty()) {
        throw refusal(
            Status.NOT_FOUND,
            "unknown path "
                + ReportPath.text(each.getPath())
                + "; the paths are "
                + ReportPath.all());
      }
      long intervalNs = each.getSampleInterval();
      if (intervalNs == 0) {
        intervalNs = GnmiMethods.LEAST_INTERVAL_NS;
      }
      if (intervalNs < GnmiMethods.LEAST_INTERVAL_NS) {
        throw refusal(
            Status.INVALID_ARGUMENT,
            "interval of "
                + Long.toUnsignedString(intervalNs)
                + " ns is outside the range from 50 ms to 292 years");
      }
      wanted.add(new SampleRequest(paths, intervalNs));
    }
    return wanted;
  }

  private static StatusRuntimeException refusal(Status status, String why) {
    return status.withDescription(why).asRuntimeException();
  }
}
