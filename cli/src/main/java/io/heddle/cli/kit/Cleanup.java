package io.heddle.cli.kit;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Stack of cleanup steps. They run when the command ends or is interrupted (Ctrl-C, SIGTERM), each
 * once, the newest first.
 */
public final class Cleanup implements AutoCloseable {
  private final Deque<AutoCloseable> steps = new ArrayDeque<>();
  private final Thread hook = new Thread(this::runAll, "cleanup");

  public Cleanup() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Adds an object to close on cleanup; returns the object. */
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
      /*
       * The JVM is shutting down already: the shutdown hook can't be removed, but finds no steps
       * left.
       */
    }
  }
}
