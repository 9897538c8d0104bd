package io.heddle.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Network namespaces of a {@link NetworkTopology} in use. Closing this object removes them, and so
 * does an interrupt of the process.
 *
 * <p>Names contain the process ID, so that several topologies can coexist. Creating one removes the
 * namespaces of killed processes, which are recognised by that ID.
 */
public final class NetworkNamespaces implements AutoCloseable {
  private static final String PREFIX = "heddle-";
  private static final Pattern NAME = Pattern.compile(PREFIX + "([0-9]+)-[0-9]+-.*");
  private static int created;

  private final String prefix = newPrefix();
  private final List<NetworkNamespace> namespaces = new ArrayList<>();
  private final Thread hook = new Thread(this::removeAll, "namespaces cleanup");
  private boolean closed;

  NetworkNamespaces() {
    removeLeftovers();
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private static synchronized String newPrefix() {
    return PREFIX + ProcessHandle.current().pid() + "-" + ++created + "-";
  }

  /** Adds nodes and links. Links may lead to nodes that exist already. */
  public void add(NetworkTopology topology) {
    topology.create(prefix, this::add);
  }

  /* Synchronized with close, which an interrupt may call during the set-up. */
  private synchronized void add(NetworkNamespace namespace) {
    if (closed) {
      throw new HeddleException("the namespaces were closed during their set-up");
    }
    namespace.add();
    namespaces.add(namespace);
  }

  /** Returns a node's namespace. */
  public NetworkNamespace node(String node) {
    return new NetworkNamespace(prefix + node);
  }

  /** Returns the name of a node's namespace. */
  public String name(String node) {
    return prefix + node;
  }

  private synchronized void removeAll() {
    closed = true;
    HeddleException failure = null;
    for (NetworkNamespace each : namespaces.reversed()) {
      try {
        each.remove();
      } catch (HeddleException failed) {
        failure = failed;
      }
    }
    namespaces.clear();
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

  /**
   * Removes the namespaces after a failure.
   *
   * @param failure failure that the caller throws next; it gets that of removing as suppressed
   */
  public void closeAfter(Throwable failure) {
    try {
      close();
    } catch (HeddleException left) {
      failure.addSuppressed(left);
    }
  }

  /** Returns the existing namespaces whose names begin like this, in order of their names. */
  public static List<NetworkNamespace> named(String prefix) {
    if (!Files.isDirectory(NetworkNamespace.NAMES)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(NetworkNamespace.NAMES)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith(prefix))
          .sorted()
          .map(NetworkNamespace::new)
          .toList();
    } catch (IOException unreadable) {
      throw new HeddleException(
          "can't list " + NetworkNamespace.NAMES + ": " + FileFailure.reason(unreadable),
          unreadable);
    }
  }

  /* Removes namespaces of killed processes. Another process may do so at the same time. */
  private static void removeLeftovers() {
    for (NetworkNamespace each : named(PREFIX)) {
      Matcher matcher = NAME.matcher(each.name());
      if (matcher.matches() && !Shell.isAlive(Long.parseLong(matcher.group(1)))) {
        try {
          each.remove();
        } catch (HeddleException failed) {
          if (Files.exists(NetworkNamespace.NAMES.resolve(each.name()))) {
            throw failed;
          }
        }
      }
    }
  }
}
