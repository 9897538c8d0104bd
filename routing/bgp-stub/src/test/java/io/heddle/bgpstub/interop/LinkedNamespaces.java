package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.NetworkNamespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * A host and a leaf in network namespaces, joined by one link: {@code p1} fd00:1::2 and 10.9.0.2 at
 * the host, {@code h0} fd00:1::1 and 10.9.0.1 at the leaf. The speaker's thread moves into the
 * host; daemons run in the leaf.
 */
final class LinkedNamespaces implements AutoCloseable {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final String name =
      "hdlb" + ProcessHandle.current().pid() + "x" + COUNT.getAndIncrement();
  private final Path folder;
  private final List<Process> processes = new CopyOnWriteArrayList<>();
  /* Removes the namespaces after an interrupted test. */
  private final Thread atExit = new Thread(this::tearDown, "namespaces-teardown");

  /** Skips the test if namespaces can't be created. */
  LinkedNamespaces() throws IOException, InterruptedException {
    String refusal = tryRun("ip", "netns", "add", host());
    if (!refusal.isEmpty()) {
      System.out.println("skipped: no network namespace can be made here: " + refusal);
      Assumptions.abort("no network namespace can be made here: " + refusal);
    }
    run("ip", "netns", "add", leaf());
    folder = Files.createTempDirectory(Path.of("/tmp"), name);
    Runtime.getRuntime().addShutdownHook(atExit);
    for (String each : List.of(host(), leaf())) {
      run("ip", "-n", each, "link", "set", "lo", "up");
      inside(
          each,
          "sysctl",
          "-qw",
          "net.ipv6.conf.default.accept_dad=0",
          "net.ipv6.conf.default.dad_transmits=0",
          "net.ipv6.conf.default.addr_gen_mode=0");
    }
    inside(leaf(), "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1");
    run(
        "ip", "-n", leaf(), "link", "add", "h0", "type", "veth", "peer", "name", "p1", "netns",
        host());
    run("ip", "-n", host(), "addr", "add", "fd00:1::2/64", "dev", "p1", "nodad");
    run("ip", "-n", leaf(), "addr", "add", "fd00:1::1/64", "dev", "h0", "nodad");
    run("ip", "-n", host(), "addr", "add", "10.9.0.2/24", "dev", "p1");
    run("ip", "-n", leaf(), "addr", "add", "10.9.0.1/24", "dev", "h0");
    run("ip", "-n", leaf(), "link", "set", "h0", "up");
    run("ip", "-n", host(), "link", "set", "p1", "up");
  }

  String host() {
    return name + "h";
  }

  String leaf() {
    return name + "l";
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
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", leaf()));
    whole.addAll(List.of(command));
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
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", leaf()));
    whole.addAll(List.of(command));
    Process process = new ProcessBuilder(whole).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Deadline.ofSeconds(30).awaitExit(process);
    return output;
  }

  /** Returns the link-local address that the kernel forms on a device, as text. */
  String linkLocal(String namespace, String device) throws IOException, InterruptedException {
    for (int attempt = 0; attempt < 100; attempt++) {
      Process process =
          new ProcessBuilder("ip", "netns", "exec", namespace, "cat", "/proc/net/if_inet6").start();
      String all = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      for (String line : all.split("\n")) {
        if (line.startsWith("fe80") && line.endsWith(" " + device)) {
          String whole = String.join(":", line.substring(0, 32).split("(?<=\\G.{4})"));
          return Prefix.of(whole).toString().replace("/128", "");
        }
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new AssertionError("no link-local address on " + device);
  }

  void inside(String namespace, String... command) throws IOException, InterruptedException {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
    whole.addAll(List.of(command));
    run(whole.toArray(String[]::new));
  }

  static void run(String... command) throws IOException, InterruptedException {
    assertEquals("", tryRun(command), String.join(" ", command));
  }

  private static String tryRun(String... command) throws InterruptedException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Deadline.ofSeconds(30).awaitExit(process);
      return process.exitValue() == 0 ? "" : "exit code " + process.exitValue() + ": " + output;
    } catch (IOException absent) {
      return String.valueOf(absent.getMessage());
    }
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
          throw new IllegalStateException("taking down " + name, changed);
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
      tryRun("ip", "netns", "del", leaf());
      tryRun("ip", "netns", "del", host());
      removeFolder();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
