package io.heddle.cli.controller;

import java.util.Locale;

/** Formatter of the document of {@code heddle controller plan} as text. */
final class PlanTable {
  private static final int BAR = 40;

  private PlanTable() {}

  static String of(PlanDocument document) {
    StringBuilder out = new StringBuilder();
    for (PlanDocument.PolicyRow policy : document.policies()) {
      out.append("policy %s: %s%n".formatted(policy.policy(), policy.sentence()));
      for (PlanDocument.ListRow list : document.lists()) {
        if (list.policy().equals(policy.policy())) {
          out.append(row(list));
        }
      }
      out.append(System.lineSeparator());
    }
    for (PlanDocument.DecisionRow each : document.decisions()) {
      out.append("%-9s %s%n".formatted(each.action(), each.sentence()));
    }
    if (document.decisions().isEmpty()) {
      out.append("nothing to do%n".formatted());
    }
    for (PlanDocument.RefusedRow each : document.refused()) {
      out.append(
          "%-9s %s from list %s to list %s: the busiest list would still have %s after %s%n"
              .formatted(
                  "refused",
                  each.flow(),
                  each.from(),
                  each.to(),
                  percent(each.utilisationAfter()),
                  percent(each.utilisation())));
    }
    return out.toString();
  }

  private static String row(PlanDocument.ListRow list) {
    int filled = (int) Math.min(BAR, Math.round(BAR * list.utilisationAfter()));
    String after =
        Math.abs(list.utilisation() - list.utilisationAfter()) < 1e-9
            ? ""
            : " -> " + percent(list.utilisationAfter());
    return "  list %-5s %-15s %s%n"
        .formatted(
            list.list(),
            percent(list.utilisation()) + after,
            "#".repeat(filled) + ".".repeat(BAR - filled));
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }
}
