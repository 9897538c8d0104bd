package io.heddle.systemtests.guest;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What a guest is to look like.
 *
 * @param options of {@code run.sh}
 * @param outside command line in front of it, such as one that enters a network namespace
 * @param limitSeconds after which the guest is ended
 */
record GuestPlan(List<String> options, List<String> outside, int limitSeconds) {
  private static final int LIMIT_SECONDS = 240;

  private static GuestPlan of(String... options) {
    return new GuestPlan(List.of(options), List.of(), LIMIT_SECONDS);
  }

  /** No RDMA device. */
  static GuestPlan bare() {
    return of("--bare");
  }

  /** A device at each end of every cable: rxeA0, rxeB0, rxeA1, … */
  static GuestPlan cables(int cables) {
    return of("--cables", Integer.toString(cables));
  }

  /** Devices rxeA and rxeB with an address in each plane. */
  static GuestPlan planes(int planes) {
    return of("--planes", Integer.toString(planes));
  }

  /** Devices rxeA0, rxeB0, rxeA1, …, each with an address in each of the planes that they share. */
  static GuestPlan planes(int planes, int devices) {
    return of("--planes", planes + "x" + devices);
  }

  GuestPlan within(int seconds) {
    return new GuestPlan(options, outside, seconds);
  }

  /** The guest sees this folder as /run/out and may write to it. */
  GuestPlan sharing(Path folder) {
    return with(List.of("-o", folder.toString()), outside);
  }

  /** The guest's eth0 is this tap device, which exists where the command line leads. */
  GuestPlan behindTap(String tap, List<String> commandLine) {
    return with(List.of("--tap", tap), commandLine);
  }

  private GuestPlan with(List<String> more, List<String> prefix) {
    List<String> all = new ArrayList<>(options);
    all.addAll(more);
    return new GuestPlan(List.copyOf(all), List.copyOf(prefix), limitSeconds);
  }
}
