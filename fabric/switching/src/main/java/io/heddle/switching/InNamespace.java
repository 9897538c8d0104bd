package io.heddle.switching;

import io.heddle.platform.NetworkNamespace;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Single steps inside a network namespace, each on a thread of its own. */
final class InNamespace {
  private InNamespace() {}

  /** Runs a step that throws nothing checked, and waits for its end. */
  static <T> T call(String namespace, Callable<T> step) {
    FutureTask<T> task =
        new FutureTask<>(() -> {
          NetworkNamespace.enter(namespace);
          return step.call();
        });
    Thread.ofPlatform().daemon().name("in " + namespace).start(task);
    try {
      return task.get();
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case RuntimeException unchecked -> throw unchecked;
        case Error error -> throw error;
        case null, default -> throw new IllegalStateException(failed.getCause());
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted inside " + namespace, interrupted);
    }
  }
}
