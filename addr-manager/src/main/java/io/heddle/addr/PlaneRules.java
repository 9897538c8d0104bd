package io.heddle.addr;

import io.heddle.platform.HeddleException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Operator's rules for planes: {@code HEDDLE_PLANES=selector=key[,selector=key…]}, where a selector
 * is an address, a prefix ({@code fd00:1:1:1::/64}) or an interface name. If several rules match an
 * address, the closest decides: an address comes before a prefix, a longer prefix before a shorter
 * one, and an interface name comes last.
 */
public final class PlaneRules {
  private static final String VARIABLE = "HEDDLE_PLANES";
  private static final Pattern KEY = Pattern.compile("[A-Za-z0-9._-]{1,32}");
  private static final Pattern INTERFACE_NAME = Pattern.compile("[^/:=,\\s]{1,15}");
  private static final String GRAMMAR =
      "; a part is selector=key, where the selector is an address (fd00:1:1:1::5), a prefix"
          + " (fd00:1:1:1::/64) or an interface name (eth0), and the key has 1 to 32 letters,"
          + " digits, dots, dashes or underscores";

  /** Empty rules: planes are found from interfaces and subnets. */
  public static final PlaneRules NONE = new PlaneRules(List.of());

  private final List<Rule> rules;

  /**
   * Rule of one selector.
   *
   * @param prefix addresses of the rule; null for an interface
   */
  record Rule(String selector, @Nullable AddressPrefix prefix, String key) {
    boolean isInterface() {
      return prefix == null;
    }

    boolean isWholeAddress() {
      return prefix != null && prefix.isWholeAddress();
    }

    boolean matches(AssignedAddress candidate, NetworkLink link) {
      return prefix == null ? link.name().equals(selector) : prefix.includes(candidate.address());
    }

    /*
     * Returns the rank of the selector: addresses rank above prefixes, longer prefixes above
     * shorter ones, interfaces lowest.
     */
    int closeness() {
      return prefix == null ? -1 : isWholeAddress() ? Integer.MAX_VALUE : prefix.lengthBits();
    }
  }

  private PlaneRules(List<Rule> rules) {
    this.rules = List.copyOf(rules);
  }

  /**
   * Parses the rules.
   *
   * @param value the value of {@code HEDDLE_PLANES}; null or blank means no rule
   * @throws HeddleException if the value is malformed; the message has the malformed part and the
   *     allowed form
   */
  public static PlaneRules parse(@Nullable String value) {
    if (value == null || value.isBlank()) {
      return NONE;
    }
    List<Rule> rules = new ArrayList<>();
    String[] parts = value.split(",", -1);
    for (int i = 0; i < parts.length; i++) {
      String part = parts[i].strip();
      String where = VARIABLE + " part " + (i + 1) + " of " + parts.length + ", \"" + part + "\": ";
      Rule rule = parsePart(part, where);
      for (Rule earlier : rules) {
        if (hasSameSelector(earlier, rule)) {
          throw new HeddleException(
              where
                  + "the selector "
                  + rule.selector()
                  + " already has the key "
                  + earlier.key()
                  + "; name each selector once");
        }
      }
      rules.add(rule);
    }
    return new PlaneRules(rules);
  }

  private static boolean hasSameSelector(Rule left, Rule right) {
    AddressPrefix prefix = left.prefix();
    AddressPrefix other = right.prefix();
    if (prefix == null || other == null) {
      return left.selector().equals(right.selector());
    }
    return prefix.lengthBits() == other.lengthBits() && prefix.includes(other.address());
  }

  private static Rule parsePart(String part, String where) {
    int equals = part.indexOf('=');
    if (equals < 0) {
      throw new HeddleException(where + "no \"=\"" + GRAMMAR);
    }
    String selector = part.substring(0, equals).strip();
    String key = part.substring(equals + 1).strip();
    if (!KEY.matcher(key).matches()) {
      throw new HeddleException(where + "\"" + key + "\" isn't a plane key" + GRAMMAR);
    }
    int slash = selector.indexOf('/');
    if (AddressText.parse(slash < 0 ? selector : selector.substring(0, slash)) != null) {
      try {
        return new Rule(selector, AddressPrefix.parse(selector), key);
      } catch (IllegalArgumentException malformed) {
        throw new HeddleException(where + malformed.getMessage(), malformed);
      }
    }
    if (slash >= 0 || selector.indexOf(':') >= 0 || !INTERFACE_NAME.matcher(selector).matches()) {
      throw new HeddleException(
          where
              + "\""
              + selector
              + "\" is neither an address, a prefix nor an interface name"
              + GRAMMAR);
    }
    return new Rule(selector, null, key);
  }

  /** Returns the keys of all planes that rules name, with the prefix {@code plane:}, each once. */
  public List<String> keys() {
    return rules.stream().map(rule -> Plane.OPERATOR_PREFIX + rule.key()).distinct().toList();
  }

  /**
   * Returns the key of the plane to which the rules assign an address, whether or not the address
   * is usable; empty if no rule matches.
   */
  public Optional<String> keyOf(AssignedAddress candidate, NetworkLink link) {
    return ruleFor(candidate, link).map(rule -> Plane.OPERATOR_PREFIX + rule.key());
  }

  boolean isEmpty() {
    return rules.isEmpty();
  }

  List<Rule> rules() {
    return rules;
  }

  Optional<Rule> ruleFor(AssignedAddress candidate, NetworkLink link) {
    Rule best = null;
    for (Rule rule : rules) {
      if (rule.matches(candidate, link) && (best == null || rule.closeness() > best.closeness())) {
        best = rule;
      }
    }
    return Optional.ofNullable(best);
  }
}
