package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.addr.AddressText;
import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.Deadline;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Test of a bridge between two fabrics of one host each, in network namespaces. */
abstract class BridgedFabrics {
  static final int HOST_A = 1;
  static final int HOST_B = 2;
  static final long POLL_NS = 1_000_000;

  @TempDir Path folder;
  TwoFabrics fabrics;
  Bridge bridge;
  private final List<DatagramEnd> ends = new ArrayList<>();

  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  @AfterEach
  final void closeAll() {
    ends.forEach(DatagramEnd::close);
    if (bridge != null) {
      bridge.close();
    }
    if (fabrics != null) {
      fabrics.close();
    }
  }

  final void open(int mtuBytes) {
    fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, mtuBytes);
  }

  final void start(BridgeConfig config) {
    bridge = BridgeDemo.inNamespace(fabrics.namespace(0), config);
  }

  /**
   * Returns a configuration whose status file is in the test's folder.
   *
   * @param a settings of fabric a
   * @param b settings of fabric b
   * @param sections further sections
   */
  final BridgeConfig config(String a, String b, List<String> sections) {
    return config("name = test\nstatus = " + folder.resolve("status"), a, b, sections);
  }

  /** Returns a configuration with IPv4 addresses only. */
  final BridgeConfig config(String... sections) {
    return config(
        "interface = e1\naddress = 10.1.0.254",
        "interface = e2\naddress = 10.2.0.254",
        List.of(sections));
  }

  /**
   * Returns a configuration.
   *
   * @param own the bridge's own settings
   */
  static BridgeConfig config(String own, String a, String b, List<String> sections) {
    return BridgeConfigParser.parse(
        "bridge.conf",
        "%s\n[fabric a]\n%s\n[fabric b]\n%s\n%s".formatted(own, a, b, String.join("\n", sections)));
  }

  final BridgeStatus status() {
    return BridgeStatus.read(folder.resolve("status"));
  }

  /** Returns the counts of a group's packets from a fabric, 0 for a. */
  final BridgeStatus.Direction direction(int group, int from) {
    return status().groups().get(group).directions().get(from);
  }

  final BridgeStatus.Direction fromA(int group) {
    return direction(group, 0);
  }

  final BridgeStatus.Unicast unicast() {
    return Objects.requireNonNull(status().unicast());
  }

  /** Returns the counts of unicast packets from a fabric, 0 for a. */
  final BridgeStatus.Direction direction(int side) {
    return unicast().directions().get(side);
  }

  /**
   * Returns the number of packets that were forwarded, dropped or queued. The bridge counts a
   * packet's arrival and its result one after the other, so this number may differ from the
   * arrivals for a moment.
   */
  static long settled(BridgeStatus.Direction direction) {
    return direction.forwarded() + direction.dropped() + direction.pending();
  }

  final void await(BooleanSupplier what) {
    Deadline deadline = Deadline.ofSeconds(30);
    while (!what.getAsBoolean()) {
      assertFalse(deadline.isOver(), () -> status() + " within " + deadline);
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /** Runs an action in a host's network namespace, with sockets of that host. */
  final void at(int host, Consumer<FabricHost> what) {
    at(host, fabrics.address(host, true), List.of(), what);
  }

  /**
   * Runs an action in a host's network namespace, with sockets of that host.
   *
   * @param source IPv4 address that the host sends from
   * @param groups groups that the host joins
   */
  final void at(int host, Gid source, List<Gid> groups, Consumer<FabricHost> what) {
    NetworkNamespace.call(
        fabrics.namespace(host),
        () -> {
          String link = TwoFabrics.interfaceName(fabrics.side(host));
          Gid ipv6 = fabrics.address(host, false);
          try (FabricHost there = new FabricHost(host, link, source, ipv6)) {
            there.join(groups, link);
            what.accept(there);
          }
          return true;
        });
  }

  /** Sends numbered payloads of 100 bytes from a host to a group. */
  final void sendFrom(int host, Gid group, int packets) {
    at(
        host,
        there -> {
          for (int i = 0; i < packets; i++) {
            assertTrue(there.send(group, 0, i, 100));
          }
        });
  }

  final void run(int host, List<String> commands) {
    fabrics.runAt(host, List.of("sh", "-e", "-c", String.join("\n", commands)));
  }

  static Gid address(String text) {
    return Gid.of(Objects.requireNonNull(AddressText.parse(text)));
  }

  /** Gives a host these addresses, and opens an end at each. */
  final List<DatagramEnd> endsAt(int host, List<String> addresses) {
    run(host, addresses.stream().map(each -> addressCommand(host, each)).toList());
    List<DatagramEnd> made = new ArrayList<>();
    for (String each : addresses) {
      made.add(new DatagramEnd(fabrics.namespace(host), address(each)));
      ends.add(made.getLast());
    }
    return made;
  }

  final DatagramEnd endAt(int host, String address) {
    return endsAt(host, List.of(address)).getFirst();
  }

  private static String addressCommand(int host, String address) {
    return "ip addr add "
        + address
        + (address.contains(":") ? "/128 nodad" : "/32")
        + " dev e"
        + host;
  }

  /**
   * Returns the bytes that the data thread has allocated so far. Foreign calls allocate boxes until
   * they are compiled, so a test repeats its packets until they allocate nothing.
   */
  static LongSupplier dataThreadAllocation() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long data =
        Thread.getAllStackTraces().keySet().stream()
            .filter(each -> each.getName().equals("heddle-bridge-data"))
            .findFirst()
            .orElseThrow()
            .threadId();
    return () -> threads.getThreadAllocatedBytes(data);
  }
}
