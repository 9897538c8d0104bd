package io.heddle.verbs;

/** Where work completions of any number of queue pairs arrive. */
public interface CompletionQueue extends AutoCloseable {
  DeviceContext context();

  /**
   * Takes up to {@code completions.length} completions, oldest first, into the given reusable
   * objects. Doesn't make the device progress: {@link DeviceContext#progress} does. One thread at a
   * time; no allocation.
   *
   * @return how many were taken, or a negative errno when the queue has overrun
   */
  int poll(WorkCompletion[] completions);

  @Override
  void close();
}
