package io.heddle.tools.lab;

import io.heddle.cli.kit.Shell;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Set of network namespaces with short names. Closing the set removes them, and so does an
 * interrupt of the process.
 *
 * <p>Names contain the process ID, so that several sets can coexist. Creating a set removes the
 * namespaces of killed processes, which are recognised by that ID.
 */
final class NamespaceSet implements AutoCloseable {
  private static final Path NAMES = Path.of("/run/netns");
  private static final Pattern NAME =
      Pattern.compile(
          "heddle-([0-9]+)-[0-9]+-(?:r[0-9]+|switch|a|b|leaf|exit|spine[0-9]+|core[0-9]+)");
  private static int created;

  private final String prefix = newPrefix();
  private final List<String> nodes = new ArrayList<>();
  private final Thread hook = new Thread(this::removeAll, "namespaces cleanup");
  private boolean closed;

  NamespaceSet() {
    removeLeftovers();
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private static synchronized String newPrefix() {
    return "heddle-" + ProcessHandle.current().pid() + "-" + ++created + "-";
  }

  /* Creates a namespace. Synchronized with close, which an interrupt may call during the set-up. */
  synchronized void add(String node) {
    if (closed) {
      throw new LabException("the lab was closed during its set-up");
    }
    Shell.run(List.of("ip", "netns", "add", name(node)));
    nodes.add(node);
  }

  /** Returns the name of a node's namespace. */
  String name(String node) {
    return prefix + node;
  }

  synchronized List<String> nodes() {
    return List.copyOf(nodes);
  }

  void batch(String node, List<String> lines) {
    Shell.run(
        List.of("ip", "-6", "-n", name(node), "-batch", "-"), String.join("\n", lines) + "\n");
  }

  /** Runs a command in a node's namespace; returns its output. */
  String run(String node, List<String> command, String input) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", name(node)));
    whole.addAll(command);
    return Shell.run(whole, input);
  }

  private synchronized void removeAll() {
    closed = true;
    HeddleException failure = null;
    for (String node : nodes.reversed()) {
      try {
        Shell.run(List.of("ip", "netns", "del", name(node)));
      } catch (HeddleException failed) {
        failure = failed;
      }
    }
    nodes.clear();
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
        /* The JVM is shutting down. The hook finds nothing left to remove. */
      }
    }
  }

  /** Removes namespaces of killed processes. */
  private static void removeLeftovers() {
    if (!Files.isDirectory(NAMES)) {
      return;
    }
    try (DirectoryStream<Path> names = Files.newDirectoryStream(NAMES, "heddle-*")) {
      for (Path path : names) {
        Matcher matcher = NAME.matcher(path.getFileName().toString());
        if (matcher.matches() && !Shell.isAlive(Long.parseLong(matcher.group(1)))) {
          Shell.run(List.of("ip", "netns", "del", path.getFileName().toString()));
        }
      }
    } catch (java.io.IOException unreadable) {
      throw new LabException(
          "can't list " + NAMES + ": " + FileFailure.reason(unreadable), unreadable);
    }
  }
}
