package io.heddle.addr;

import io.heddle.platform.testing.Deadline;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Program in its own network namespace that prints what Heddle finds there, one fact per line;
 * {@link HostAddressesInNamespaceTest} starts it and compares.
 */
final class AddressScenario {
  private static final long LIMIT_SECONDS = 10;

  private AddressScenario() {}

  public static void main(String[] arguments) throws Exception {
    try (AddressWatcher watcher = AddressWatcher.open()) {
      ip("link add e0 address 02:00:00:00:01:01 mtu 9000 type veth peer name p0");
      ip("link add e1 address 02:00:00:00:01:02 type veth peer name p1");
      ip("link set e0 up");
      ip("link set p0 up");
      ip("link set e1 up");
      ip("addr add fd00:1:1:1:0:ff:fe00:101/64 dev e0 nodad");
      ip("addr add fd00:1:1:2::7/64 dev e0 nodad preferred_lft 0 valid_lft 600");
      ip("addr add fd00:1:1:3::8/64 dev e1 nodad");
      report("e0 is up", await(() -> HostAddresses.read().usable().size() == 1));
      print();

      List<AddressEvent> events = new ArrayList<>();
      report(
          "events came",
          await(() -> watcher.poll(events::add) >= 0 && mentions(events, "e0", "fd00:1:1:3::8")));
      report("nothing waits", watcher.poll(events::add) == 0);

      events.clear();
      ip("link set p1 up");
      report("carrier came", await(() -> watcher.poll(events::add) >= 0 && upAgain(events)));
      report("two usable", HostAddresses.read().usable().size() == 2);

      events.clear();
      ip("addr del fd00:1:1:1:0:ff:fe00:101/64 dev e0");
      ip("link del e1");
      report("removals came", await(() -> watcher.poll(events::add) >= 0 && removed(events)));
      report("none usable", HostAddresses.read().usable().isEmpty());
    }
  }

  private static void print() {
    HostAddresses host = HostAddresses.read();
    for (NetworkLink link : host.links()) {
      System.out.printf(
          "link %s mtu %s up %b carrier %b mac %s kind %s speed %s%n",
          link.name(),
          link.mtuBytes(),
          link.administrativelyUp(),
          link.carrier(),
          link.macAddress(),
          link.kind(),
          link.speedBitsPerSecond());
    }
    PlaneDiscovery.Result result = PlaneDiscovery.discover(host, PlaneRules.NONE);
    result
        .planes()
        .forEach(plane -> System.out.println("plane " + plane.key() + " " + plane.address()));
    result.rejected().stream()
        .filter(each -> !each.address().address().isLinkLocalAddress())
        .forEach(each -> System.out.println("rejected " + each));
  }

  private static boolean mentions(List<AddressEvent> events, String link, String address) {
    boolean linkSeen = false;
    boolean addressSeen = false;
    for (AddressEvent event : events) {
      linkSeen |=
          event instanceof AddressEvent.LinkChanged changed && changed.link().name().equals(link);
      addressSeen |=
          event instanceof AddressEvent.AddressChanged changed
              && AddressText.of(changed.address().address()).equals(address);
    }
    return linkSeen && addressSeen;
  }

  private static boolean upAgain(List<AddressEvent> events) {
    return events.stream()
        .anyMatch(event ->
            event instanceof AddressEvent.LinkChanged changed
                && changed.link().name().equals("e1")
                && changed.link().isUp());
  }

  private static boolean removed(List<AddressEvent> events) {
    boolean link = false;
    boolean address = false;
    for (AddressEvent event : events) {
      link |= event instanceof AddressEvent.LinkRemoved gone && gone.link().name().equals("e1");
      address |=
          event instanceof AddressEvent.AddressRemoved gone
              && gone.address().toString().equals("fd00:1:1:1:0:ff:fe00:101/64");
    }
    return link && address;
  }

  private static boolean await(BooleanSupplier condition) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (!condition.getAsBoolean()) {
      if (deadline.isOver()) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
    return true;
  }

  private static void report(String fact, boolean holds) {
    System.out.println(fact + ": " + holds);
  }

  private static void ip(String arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(arguments.split(" ")));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output =
        new String(
            process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("ip " + arguments + ": " + output);
    }
  }
}
