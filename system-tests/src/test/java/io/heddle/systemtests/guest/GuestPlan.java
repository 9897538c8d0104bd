package io.heddle.systemtests.guest;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Description of a guest.
 *
 * @param options of {@code run.sh}
 * @param outside words before the guest's command, such as words that enter a network namespace
 * @param limitSeconds time limit after which the guest is ended
 */
record GuestPlan(List<String> options, List<String> outside, int limitSeconds) {
  private static final int LIMIT_SECONDS = 240;

  private static GuestPlan of(String... options) {
    return new GuestPlan(List.of(options), List.of(), LIMIT_SECONDS);
  }

  /** Returns a plan without RDMA device. */
  static GuestPlan bare() {
    return of("--bare");
  }

  /** Returns a plan with a device at each end of every cable: rxeA0, rxeB0, rxeA1, … */
  static GuestPlan cables(int cables) {
    return of("--cables", Integer.toString(cables));
  }

  /** Returns a plan with devices rxeA and rxeB with an address in each plane. */
  static GuestPlan planes(int planes) {
    return of("--planes", Integer.toString(planes));
  }

  /**
   * Returns a plan with devices rxeA0, rxeB0, rxeA1, …, each with an address in each of the planes
   * that they share.
   */
  static GuestPlan planes(int planes, int devices) {
    return of("--planes", planes + "x" + devices);
  }

  GuestPlan within(int seconds) {
    return new GuestPlan(options, outside, seconds);
  }

  /** Adds this folder as /run/out, writable by the guest. */
  GuestPlan sharing(Path folder) {
    return with(List.of("-o", folder.toString()), outside);
  }

  /**
   * Connects the guest's eth0 to this tap device.
   *
   * @param commandLine prefix of the guest's command, which enters the device's network namespace
   */
  GuestPlan behindTap(String tap, List<String> commandLine) {
    return with(List.of("--tap", tap), commandLine);
  }

  private GuestPlan with(List<String> more, List<String> prefix) {
    List<String> all = new ArrayList<>(options);
    all.addAll(more);
    return new GuestPlan(List.copyOf(all), List.copyOf(prefix), limitSeconds);
  }
}
