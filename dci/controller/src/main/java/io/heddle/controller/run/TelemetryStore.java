package io.heddle.controller.run;

import io.heddle.platform.Log;
import io.heddle.telemetry.client.TelemetryListener;
import io.heddle.telemetry.gnmi.ReportPath;
import io.heddle.telemetry.gnmi.ReportReader.Decoded;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Store of the last report of each target, with its arrival time. Thread-safe. */
final class TelemetryStore {
  private static final String SILENCE = "";
  private static final double BITS_PER_OCTET = 8e9;

  /**
   * Last report of one target.
   *
   * @param elephantsNs arrival time of the elephants by the local clock; −1 for never
   * @param rulesNs arrival time of the rules by the local clock; −1 for never
   * @param trouble reason for missing or malformed reports; null if there is none
   */
  record Reported(
      List<ListReport> lists,
      List<ElephantReport> elephants,
      List<RuleReport> rules,
      long elephantsNs,
      long rulesNs,
      @Nullable String trouble) {
    static final Reported NOTHING =
        new Reported(List.of(), List.of(), List.of(), -1, -1, "nothing has come yet");

    boolean isWhole() {
      return elephantsNs >= 0 && rulesNs >= 0 && !lists.isEmpty();
    }

    Reported in(Map<String, String> troubles) {
      String first = troubles.values().stream().findFirst().orElse(null);
      return new Reported(lists, elephants, rules, elephantsNs, rulesNs, first);
    }
  }

  /**
   * Rate at which an interface sends.
   *
   * @param sampledNs arrival time of the last sample by the local clock
   */
  record Rate(double bitsPerSecond, long sampledNs) {}

  private record Counter(long octets, long timestampNs) {}

  private record Interface(String target, String name) {}

  private final LongSupplier clock;
  private final Log log;
  private final Map<String, Reported> reported = new HashMap<>();
  private final Map<Interface, Counter> counters = new HashMap<>();
  private final Map<Interface, Rate> rates = new HashMap<>();
  /*
   * Parse errors by target and path. The key SILENCE instead of a path has the reason for missing
   * reports.
   */
  private final Map<String, Map<String, String>> troubles = new HashMap<>();
  private long records;
  private boolean changed;

  TelemetryStore(LongSupplier clock, Log log) {
    this.clock = clock;
    this.log = log;
  }

  /** Returns the listener that stores a target's reports. */
  TelemetryListener listener(String target) {
    return new TelemetryListener() {
      @Override
      public void received(Decoded update) {
        take(target, update);
      }

      @Override
      public void lost(String why) {
        TelemetryStore.this.lost(target, why);
      }
    };
  }

  private synchronized void take(String target, Decoded what) {
    Reported old = reported(target);
    long now = clock.getAsLong();
    switch (what) {
      case Decoded.Lists(var lists) ->
          put(
              target,
              ReportPath.LISTS,
              new Reported(
                  lists, old.elephants(), old.rules(), old.elephantsNs(), old.rulesNs(), null));
      case Decoded.Elephants(var elephants) -> {
        records += elephants.size();
        put(
            target,
            ReportPath.ELEPHANTS,
            new Reported(old.lists(), elephants, old.rules(), now, old.rulesNs(), null));
        wake();
      }
      case Decoded.Rules(var rules) ->
          put(
              target,
              ReportPath.RULES,
              new Reported(old.lists(), old.elephants(), rules, old.elephantsNs(), now, null));
      case Decoded.Counters(var heard, long timestampNs) -> {
        heard.forEach(each -> count(target, each, timestampNs, now));
        put(target, ReportPath.INTERFACES, old);
        wake();
      }
      case Decoded.Malformed(var path, var why) -> {
        troubles(target).remove(SILENCE);
        trouble(target, path.text(), target + " reports what isn't understood: " + why);
      }
    }
  }

  private Map<String, String> troubles(String target) {
    return troubles.computeIfAbsent(target, any -> new TreeMap<>());
  }

  private void put(String target, ReportPath path, Reported now) {
    Map<String, String> left = troubles(target);
    boolean was = left.remove(SILENCE) != null;
    was |= left.remove(path.text()) != null;
    if (was && left.isEmpty()) {
      log.info("%s reports", target);
    }
    reported.put(target, now.in(left));
  }

  private synchronized void lost(String target, String why) {
    troubles(target).keySet().retainAll(Set.of(SILENCE));
    trouble(target, SILENCE, why);
  }

  private void trouble(String target, String where, String why) {
    Map<String, String> all = troubles(target);
    if (!why.equals(all.put(where, why))) {
      log.warn("%s", why);
    }
    reported.put(target, reported(target).in(all));
  }

  private void count(String target, InterfaceReport heard, long timestampNs, long nowNs) {
    Interface of = new Interface(target, heard.name());
    Counter before = counters.get(of);
    if (before != null && timestampNs == before.timestampNs()) {
      return; // repeated sample
    }
    counters.put(of, new Counter(heard.outOctets(), timestampNs));
    if (before != null
        && timestampNs > before.timestampNs()
        && heard.outOctets() >= before.octets()) {
      double octets = heard.outOctets() - before.octets();
      rates.put(
          of, new Rate(octets * BITS_PER_OCTET / (timestampNs - before.timestampNs()), nowNs));
    }
  }

  /** Returns the number of reported elephants, each counted once per report. */
  synchronized long records() {
    return records;
  }

  synchronized Reported reported(String target) {
    return Objects.requireNonNull(reported.getOrDefault(target, Reported.NOTHING));
  }

  /** Returns the rate of an interface; null until two counts of it have arrived. */
  synchronized @Nullable Rate rate(String target, String interfaceName) {
    return rates.get(new Interface(target, interfaceName));
  }

  private void wake() {
    changed = true;
    notifyAll();
  }

  /** Waits until elephants or counters arrive, or the time is over. */
  synchronized void awaitChange(long longestNs) throws InterruptedException {
    long end = System.nanoTime() + longestNs;
    while (!changed) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (leftMs <= 0) {
        return;
      }
      wait(leftMs);
    }
    changed = false;
  }
}
