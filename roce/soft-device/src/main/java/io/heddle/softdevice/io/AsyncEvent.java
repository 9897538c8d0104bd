package io.heddle.softdevice.io;

import io.heddle.verbs.AsyncEventListener;
import java.util.Queue;
import org.jctools.queues.atomic.unpadded.SpscAtomicUnpaddedArrayQueue;

/** Asynchronous event from the holder of the progress lock to the control thread. */
public record AsyncEvent(AsyncEventListener.Kind kind, int queuePairNumber) {
  /** Event of a fatal device error, allocated in advance. */
  public static final AsyncEvent DEVICE_FATAL =
      new AsyncEvent(AsyncEventListener.Kind.DEVICE_FATAL, 0);

  private static final int MAX_UNREAD = 1024;

  /**
   * Creates a queue of events with one producer, the holder of the progress lock, and one consumer
   * at a time.
   */
  public static Queue<AsyncEvent> queue() {
    return new SpscAtomicUnpaddedArrayQueue<>(MAX_UNREAD);
  }
}
