package io.heddle.systemtests.guest;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Description of a guest.
 *
 * @param options options of {@code run.sh}
 * @param outside words in front of the command that starts the guest, for example to enter a
 *     network namespace
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

  /** Returns a plan with the devices rxeA and rxeB, each with an address in each plane. */
  static GuestPlan planes(int planes) {
    return of("--planes", Integer.toString(planes));
  }

  /**
   * Returns a plan with the devices rxeA0, rxeB0, rxeA1 and so on, each with an address in each
   * plane.
   */
  static GuestPlan planes(int planes, int devices) {
    return of("--planes", planes + "x" + devices);
  }

  GuestPlan within(int seconds) {
    return new GuestPlan(options, outside, seconds);
  }

  /**
   * Returns this plan with a folder of the host, which the guest sees as /run/out and may write to.
   */
  GuestPlan sharing(Path folder) {
    return with(List.of("-o", folder.toString()), outside);
  }

  /**
   * Returns this plan with the guest's eth0 connected to a tap device.
   *
   * @param commandLine words in front of the command that starts the guest, which enter the tap
   *     device's network namespace
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
