package io.heddle.cli.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Network namespaces that belong together, each under a short name. They are removed when it is
 * closed, or when the process is interrupted.
 */
final class NamespaceSet implements AutoCloseable {
  private final String prefix = NamespaceLab.newPrefix();
  private final Map<String, String> names = new LinkedHashMap<>();
  private final Thread hook = new Thread(this::removeAll, "namespaces cleanup");
  private boolean closed;

  NamespaceSet() {
    NamespaceLab.removeLeftovers();
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /* Synchronized with close, which an interrupt may call in the middle of the set-up. */
  synchronized void add(String node) {
    if (closed) {
      throw new LabException("the lab was closed while it was set up");
    }
    Shell.run(List.of("ip", "netns", "add", prefix + node));
    names.put(node, prefix + node);
  }

  String name(String node) {
    return Objects.requireNonNull(names.get(node), node);
  }

  List<String> nodes() {
    return List.copyOf(names.keySet());
  }

  void batch(String node, List<String> lines) {
    Shell.run(
        List.of("ip", "-6", "-n", name(node), "-batch", "-"), String.join("\n", lines) + "\n");
  }

  /** A command's output. */
  String run(String node, List<String> command, String input) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", name(node)));
    whole.addAll(command);
    return Shell.run(whole, input);
  }

  private synchronized void removeAll() {
    closed = true;
    LabException failure = null;
    for (String name : List.copyOf(names.values()).reversed()) {
      try {
        Shell.run(List.of("ip", "netns", "del", name));
      } catch (LabException failed) {
        failure = failed;
      }
    }
    names.clear();
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void close() {
    try {
      removeAll();
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException shuttingDown) {
        /* Then the hook finds nothing left to do. */
      }
    }
  }
}
