package io.heddle.bgpstub.interop;

import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.Requirements;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A host and a leaf in network namespaces, joined by one link: {@code p1} fd00:1::2 and 10.9.0.2 at
 * the host, {@code h0} fd00:1::1 and 10.9.0.1 at the leaf. The speaker's thread moves into the
 * host; daemons run in the leaf.
 */
final class HostAndLeaf implements AutoCloseable {
  private static final Path ADDRESSES = Path.of("/proc/thread-self/net/if_inet6");
  private static final String[] SETTINGS = {
    "net.ipv6.conf.default.accept_dad=0",
    "net.ipv6.conf.default.dad_transmits=0",
    "net.ipv6.conf.default.addr_gen_mode=0"
  };

  private final NetworkNamespaces net;
  private final Path folder;
  private final List<Process> processes = new CopyOnWriteArrayList<>();
  /* Ends the daemons after an interrupted test. */
  private final Thread atExit = new Thread(this::tearDown, "daemons-teardown");

  /** Skips the test if namespaces can't be created. */
  HostAndLeaf() throws IOException {
    Requirements.namespaces();
    net =
        new NetworkTopology()
            .node("host", SETTINGS)
            .node("leaf", SETTINGS)
            .link("leaf h0", "host p1")
            .address("host", "p1", "fd00:1::2/64", "10.9.0.2/24")
            .address("leaf", "h0", "fd00:1::1/64", "10.9.0.1/24")
            .create();
    net.node("leaf").set(List.of("net.ipv6.conf.all.forwarding=1"));
    folder = Files.createTempDirectory(Path.of("/tmp"), net.name("bgp"));
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  String host() {
    return net.name("host");
  }

  String leaf() {
    return net.name("leaf");
  }

  /** Returns the folder of configurations, logs and control sockets. */
  Path folder() {
    return folder;
  }

  /** Moves the speaker's thread into the host's namespace, in which it then opens its sockets. */
  void moveIn(BgpSpeaker speaker) {
    moveIn(speaker, host());
  }

  static void moveIn(BgpSpeaker speaker, String namespace) {
    speaker.callOnLoop(() -> {
      NetworkNamespace.enter(namespace);
      return namespace;
    });
  }

  /** Starts a daemon in the leaf; it ends with the namespaces. */
  Process start(String... command) throws IOException {
    List<String> whole = net.node("leaf").command(List.of(command));
    Path log = folder.resolve(Path.of(command[0]).getFileName() + "." + processes.size() + ".log");
    Process process =
        new ProcessBuilder(whole).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    processes.add(process);
    return process;
  }

  /** Returns the output of all daemons, for a failed test's message. */
  String logs() {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".log")).toList()) {
        all.append(file.getFileName()).append(":\n").append(Files.readString(file));
      }
    } catch (IOException unreadable) {
      all.append(unreadable);
    }
    return all.toString();
  }

  /** Returns the output of a command in the leaf, even if it failed. */
  String ask(String... command) throws IOException, InterruptedException {
    List<String> whole = net.node("leaf").command(List.of(command));
    Process process = new ProcessBuilder(whole).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Deadline.ofSeconds(30).awaitExit(process);
    return output;
  }

  /** Returns the link-local address that the kernel forms on a device, as text. */
  static String linkLocal(String namespace, String device) throws InterruptedException {
    for (int attempt = 0; attempt < 100; attempt++) {
      for (String line : NetworkNamespace.call(namespace, () -> Files.readAllLines(ADDRESSES))) {
        if (line.startsWith("fe80") && line.endsWith(" " + device)) {
          String whole = String.join(":", line.substring(0, 32).split("(?<=\\G.{4})"));
          return Prefix.of(whole).toString().replace("/128", "");
        }
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new AssertionError("no link-local address on " + device);
  }

  static void end(Process process) throws InterruptedException {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
    if (!process.waitFor(5, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      process.waitFor(5, TimeUnit.SECONDS);
    }
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    tearDown();
  }

  /*
   * Removes the folder, if necessary in several attempts: a daemon's children end after the daemon,
   * and still remove their sockets or write to their logs.
   */
  private void removeFolder() throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(20);
    for (boolean gone = false; !gone; ) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
        gone = true;
      } catch (IOException | UncheckedIOException changed) {
        if (deadline.isOver()) {
          throw new IllegalStateException("removing " + folder, changed);
        }
        TimeUnit.MILLISECONDS.sleep(20);
        gone = !Files.exists(folder);
      }
    }
  }

  private void tearDown() {
    try {
      for (Process process : processes.reversed()) {
        end(process);
      }
      net.close();
      removeFolder();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
