package io.heddle.addr;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Pairing of the planes of two hosts by their marks. Both ends compute the same pairing.
 *
 * <p>The rules are tried in order, the strongest first. A rule matches two unmatched planes if they
 * agree in the rule's mark, and neither agrees with another unmatched plane of the other end. After
 * a rule has matched planes, the stronger rules are tried again among the rest.
 *
 * @param matches the matches, in order of their names
 * @param unmatchedHere indexes of this end's unmatched planes
 * @param unmatchedThere indexes of the other end's unmatched planes
 * @param addressesOnBoth addresses that both hosts have; their planes aren't matched
 */
public record PlaneMatching(
    List<Match> matches,
    List<Integer> unmatchedHere,
    List<Integer> unmatchedThere,
    List<InetAddress> addressesOnBoth) {
  /** Rule by which planes are matched: a mark that must agree. The strongest rule comes first. */
  public enum Rule {
    NAME("name", PlaneMarks::hasSameNameAs),
    CONFIGURED_KEY("configured key", PlaneMarks::hasSameConfiguredKeyAs),
    PREFIX("prefix", PlaneMarks::hasSamePrefixAs),
    NETWORK("network", PlaneMarks::isOnLinkWith),
    OWN_KEY("key", PlaneMarks::hasSameOwnKeyAs),
    LOW_BITS("low bits of the /64", PlaneMarks::hasSameLowBitsAs),
    INTERFACE("interface name", PlaneMarks::hasSameInterfaceNameAs),
    /** Each plane is the only unmatched plane of its host: see {@link Search#areOnlyUnmatched}. */
    ONLY_UNMATCHED("being the only ones", (here, there) -> false);

    private final String text;
    private final BiPredicate<PlaneMarks, PlaneMarks> agree;

    Rule(String text, BiPredicate<PlaneMarks, PlaneMarks> agree) {
      this.text = text;
      this.agree = agree;
    }

    /** Returns the mark's name for logs and reports. */
    public String text() {
      return text;
    }
  }

  /**
   * Match of two hosts' planes.
   *
   * @param name name of the plane at both ends, different from the name of any other match
   * @param here index among this end's planes
   * @param there index among the other end's planes
   * @param by rule that matched the planes
   */
  public record Match(String name, int here, int there, Rule by) {}

  /**
   * Matches the planes of two ends.
   *
   * @param oneHost whether both ends are in one network namespace, where all addresses are the same
   */
  public static PlaneMatching of(List<PlaneMarks> here, List<PlaneMarks> there, boolean oneHost) {
    List<InetAddress> onBoth =
        oneHost
            ? List.of()
            : here.stream()
                .map(PlaneMarks::address)
                .filter(address -> there.stream().anyMatch(each -> each.address().equals(address)))
                .toList();
    Search search =
        new Search(here, there, indexesOfOthers(here, onBoth), indexesOfOthers(there, onBoth));
    search.run();
    return new PlaneMatching(
        search.named(),
        List.copyOf(search.unmatchedHere),
        List.copyOf(search.unmatchedThere),
        onBoth);
  }

  private static List<Integer> indexesOfOthers(List<PlaneMarks> planes, List<InetAddress> without) {
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < planes.size(); i++) {
      if (!without.contains(planes.get(i).address())) {
        all.add(i);
      }
    }
    return all;
  }

  /** State of the search: unmatched planes of both ends, and the matches found. */
  private static final class Search {
    private final List<PlaneMarks> here;
    private final List<PlaneMarks> there;
    private final List<Integer> unmatchedHere;
    private final List<Integer> unmatchedThere;
    private final boolean hasOnePlaneEach;
    private final List<Match> found = new ArrayList<>();

    Search(
        List<PlaneMarks> here,
        List<PlaneMarks> there,
        List<Integer> unmatchedHere,
        List<Integer> unmatchedThere) {
      this.here = here;
      this.there = there;
      this.unmatchedHere = unmatchedHere;
      this.unmatchedThere = unmatchedThere;
      hasOnePlaneEach = unmatchedHere.size() == 1 && unmatchedThere.size() == 1;
    }

    void run() {
      Rule[] rules = Rule.values();
      for (int i = 0; i < rules.length; ) {
        boolean matched =
            rules[i] == Rule.ONLY_UNMATCHED ? matchOnlyUnmatched() : matchBy(rules[i]);
        i = matched && i > 0 ? 0 : i + 1;
      }
    }

    private boolean matchBy(Rule rule) {
      List<Match> plain = new ArrayList<>();
      for (int mine : unmatchedHere) {
        List<Integer> candidates =
            unmatchedThere.stream().filter(theirs -> agree(rule, mine, theirs)).toList();
        if (candidates.size() == 1) {
          int theirs = candidates.getFirst();
          if (unmatchedHere.stream().filter(other -> agree(rule, other, theirs)).count() == 1) {
            plain.add(new Match("", mine, theirs, rule));
          }
        }
      }
      plain.forEach(this::addMatch);
      return !plain.isEmpty();
    }

    private boolean agree(Rule rule, int mine, int theirs) {
      PlaneMarks a = here.get(mine);
      PlaneMarks b = there.get(theirs);
      return !a.contradicts(b) && rule.agree.test(a, b);
    }

    private boolean matchOnlyUnmatched() {
      if (unmatchedHere.size() != 1 || unmatchedThere.size() != 1) {
        return false;
      }
      int mine = unmatchedHere.getFirst();
      int theirs = unmatchedThere.getFirst();
      boolean alone = areOnlyUnmatched(here.get(mine), there.get(theirs));
      if (alone) {
        addMatch(new Match("", mine, theirs, Rule.ONLY_UNMATCHED));
      }
      return alone;
    }

    /*
     * Returns whether the only unmatched planes of both ends count as the same plane. They do if
     * each host has just one plane, or if neither address has an on-link prefix. Otherwise, each is
     * probably a plane that the other host lacks.
     */
    private boolean areOnlyUnmatched(PlaneMarks mine, PlaneMarks theirs) {
      return !mine.contradicts(theirs)
          && (hasOnePlaneEach || mine.isHostAddress() && theirs.isHostAddress());
    }

    private void addMatch(Match match) {
      unmatchedHere.remove(Integer.valueOf(match.here()));
      unmatchedThere.remove(Integer.valueOf(match.there()));
      found.add(match);
    }

    List<Match> named() {
      Map<String, Long> uses =
          found.stream().collect(Collectors.groupingBy(this::name, Collectors.counting()));
      return found.stream()
          .map(match ->
              new Match(
                  uses.getOrDefault(name(match), 0L) == 1
                      ? name(match)
                      : name(match) + " " + ends(match),
                  match.here(),
                  match.there(),
                  match.by()))
          .sorted(Comparator.comparing(Match::name, Plane.KEY_ORDER))
          .toList();
    }

    /* Returns the match's name, which is the same at both ends. */
    private String name(Match match) {
      PlaneMarks mine = here.get(match.here());
      PlaneMarks theirs = there.get(match.there());
      if (mine.key().equals(theirs.key())) {
        return mine.key();
      }
      if (mine.ownKey().equals(theirs.ownKey())) {
        return mine.ownKey();
      }
      return switch (match.by()) {
        case PREFIX -> "net:" + mine.prefixText();
        case LOW_BITS -> "subnet:" + mine.lowBits();
        case INTERFACE -> "if:" + mine.interfaceName();
        case NAME, CONFIGURED_KEY, NETWORK, OWN_KEY, ONLY_UNMATCHED -> ends(match);
      };
    }

    private String ends(Match match) {
      return Stream.of(here.get(match.here()), there.get(match.there()))
          .map(each -> AddressText.of(each.address()))
          .collect(Collectors.toCollection(TreeSet::new))
          .stream()
          .collect(Collectors.joining("-"));
    }
  }
}
