package io.heddle.cli.kit;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What must be undone, last first, once: when a command ends, or when it is interrupted (Ctrl-C,
 * SIGTERM).
 */
public final class Cleanup implements AutoCloseable {
  private final Deque<AutoCloseable> steps = new ArrayDeque<>();
  private final Thread hook = new Thread(this::runAll, "cleanup");

  public Cleanup() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Another thing to undo; returns it. */
  public <T extends AutoCloseable> T add(T step) {
    synchronized (steps) {
      steps.push(step);
    }
    return step;
  }

  private void runAll() {
    synchronized (steps) {
      while (!steps.isEmpty()) {
        try {
          steps.pop().close();
        } catch (Exception failed) {
          System.err.println("heddle: while cleaning up: " + failed.getMessage());
        }
      }
    }
  }

  @Override
  public void close() {
    runAll();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException alreadyShuttingDown) {
      /* Then the hook itself has run, or finds nothing left. */
    }
  }
}
