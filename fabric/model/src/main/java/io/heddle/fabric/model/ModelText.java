package io.heddle.fabric.model;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Parser of a fabric model's text. Each line is one statement, whose first word is the keyword.
 * {@code #} begins a comment. {@code tier NAME} begins a tier; {@code flows SOURCE DESTINATION
 * PORTS} adds flows.
 */
public final class ModelText {
  private static final List<String> WORDS =
      List.of(
          "tier",
          "members",
          "algorithm",
          "a0",
          "a1",
          "b0",
          "b1",
          "key-algorithm",
          "fields",
          "select",
          "seed",
          "shift",
          "lbn",
          "port",
          "lbid",
          "flows");
  private static final int MOST_FLOWS = 1 << 20;

  private final List<FabricTier> tiers = new ArrayList<>();
  private final List<RoceFlow> flows = new ArrayList<>();
  private final Set<String> names = new TreeSet<>();
  private long links = 1;

  private ModelText() {}

  /**
   * Parses a model.
   *
   * @param file name of the file, for messages
   * @throws HeddleException if a line is wrong, with the file, the line and the word
   */
  public static FabricModel parse(String file, List<String> lines) {
    ModelText text = new ModelText();
    TierText tier = null;
    ModelLine last = new ModelLine(file, Math.max(1, lines.size()), List.of());
    for (int i = 0; i < lines.size(); i++) {
      ModelLine line = ModelLine.of(file, i + 1, lines.get(i));
      if (line.words().isEmpty()) {
        continue;
      }
      String word = line.words().getFirst();
      if (word.equals("flows")) {
        text.flows(line);
      } else if (word.equals("tier")) {
        text.finish(tier);
        tier = text.begin(line);
      } else if (!WORDS.contains(word)) {
        throw line.fail(
            "'" + word + "' isn't a keyword of a model" + NearestName.suggestion(word, WORDS));
      } else if (tier == null) {
        throw line.fail("'" + word + "' belongs to a tier; add before it: tier NAME");
      } else {
        tier.take(line);
      }
    }
    text.finish(tier);
    if (text.tiers.isEmpty()) {
      throw last.fail("there is no tier; add one with: tier NAME");
    }
    if (text.flows.isEmpty()) {
      throw last.fail("there are no flows; add some with: flows SOURCE DESTINATION PORTS");
    }
    return new FabricModel(text.tiers, text.flows);
  }

  private TierText begin(ModelLine line) {
    line.require(1, "tier NAME");
    String name = line.words().get(1);
    if (!names.add(name)) {
      throw line.fail("tier " + name + " is defined twice");
    }
    return new TierText(line, name);
  }

  private void finish(@org.jspecify.annotations.Nullable TierText tier) {
    if (tier == null) {
      return;
    }
    FabricTier made = tier.make();
    links *= made.group().members();
    if (links > FabricModel.MOST_LINKS) {
      throw tier.start()
          .fail(
              "with tier %s there are %s links; at most %s are supported"
                  .formatted(made.name(), links, FabricModel.MOST_LINKS));
    }
    tiers.add(made);
  }

  /* Parses: flows SOURCE DESTINATION PORT[-PORT][,…] [QUEUE-PAIR] */
  private void flows(ModelLine line) {
    if (line.words().size() < 4 || line.words().size() > 5) {
      throw line.fail("expected: flows SOURCE DESTINATION PORTS [QUEUE-PAIR]");
    }
    InetAddress source = line.address(1);
    InetAddress destination = line.address(2);
    if (source.getAddress().length != destination.getAddress().length) {
      throw line.fail(line.words().get(2) + " is of another family than " + line.words().get(1));
    }
    int queuePair = line.words().size() > 4 ? (int) line.number(4, 0, 0xffffff) : 0;
    for (int port : line.ports(3)) {
      flows.add(new RoceFlow(source, destination, port, queuePair));
    }
    if (flows.size() > MOST_FLOWS) {
      throw line.fail("this line makes more than " + MOST_FLOWS + " flows");
    }
  }

  /** Statements of one tier. */
  private static final class TierText {
    private static final String LINUX = "linux";
    private static final String JENKINS = "jenkins";
    private static final List<String> ALGORITHMS =
        Stream.concat(HashAlgorithm.words().stream(), Stream.of(LINUX, JENKINS)).toList();

    private final ModelLine start;
    private final String name;
    private final Set<String> seenKeys = new TreeSet<>();
    private int members;
    private String kernel = "";
    private List<HashField> fields = HashField.FIVE_TUPLE;
    private final HashAlgorithm[] hashes = new HashAlgorithm[4];
    private HashAlgorithm keyAlgorithm = HashAlgorithm.XOR16;
    private Set<HashKey.Part> selected = HashModel.ECMP;
    private int seed;
    private boolean ownSeeds;
    private final int[] numbers = new int[4];

    TierText(ModelLine start, String name) {
      this.start = start;
      this.name = name;
      java.util.Arrays.fill(hashes, HashAlgorithm.CRC16);
    }

    ModelLine start() {
      return start;
    }

    void take(ModelLine line) {
      String word = line.words().getFirst();
      if (!seenKeys.add(word)) {
        throw line.fail("'" + word + "' is repeated in tier " + name);
      }
      switch (word) {
        case "members" -> members = (int) line.only(1, EcmpGroup.MOST);
        case "algorithm" -> algorithm(line);
        case "a0", "a1", "b0", "b1" ->
            hashes[List.of("a0", "a1", "b0", "b1").indexOf(word)] = named(line);
        case "key-algorithm" -> keyAlgorithm = named(line);
        case "fields" -> fields = line.each("a field", HashField.words(), HashField.values());
        case "select" ->
            selected =
                EnumSet.copyOf(
                    line.each(
                        "a part of the key",
                        Stream.of(HashKey.Part.values()).map(HashKey.Part::word).toList(),
                        HashKey.Part.values()));
        case "seed" -> seed(line);
        case "shift" -> numbers[0] = (int) line.only(0, 15);
        case "lbn" -> numbers[1] = (int) line.only(0, 15);
        case "port" -> numbers[2] = (int) line.only(0, 127);
        case "lbid" -> numbers[3] = (int) line.only(0, 255);
        default -> throw new IllegalStateException(word + " is a keyword without a parser");
      }
    }

    private void algorithm(ModelLine line) {
      line.require(1, "algorithm NAME");
      String chosen = line.choice(1, "an algorithm", ALGORITHMS);
      if (chosen.equals(LINUX) || chosen.equals(JENKINS)) {
        kernel = chosen;
      } else {
        java.util.Arrays.fill(
            hashes, HashAlgorithm.values()[HashAlgorithm.words().indexOf(chosen)]);
      }
    }

    private static HashAlgorithm named(ModelLine line) {
      line.require(1, line.words().getFirst() + " ALGORITHM");
      String chosen = line.choice(1, "a linear algorithm", HashAlgorithm.words());
      return HashAlgorithm.values()[HashAlgorithm.words().indexOf(chosen)];
    }

    private void seed(ModelLine line) {
      if (line.words().size() == 3) {
        line.choice(2, "a word after a seed", List.of("per-switch"));
        ownSeeds = true;
      } else {
        line.require(1, "seed NUMBER [per-switch]");
      }
      seed = (int) line.number(1, 0, 0xffff_ffffL);
    }

    FabricTier make() {
      if (members == 0) {
        throw start.fail("tier " + name + " has no number of links per switch; add: members N");
      }
      if (!kernel.isEmpty()) {
        seenKeys.retainAll(
            Set.of("a0", "a1", "b0", "b1", "key-algorithm", "fields", "select", "shift", "lbn"));
        if (!seenKeys.isEmpty()) {
          throw start.fail(
              "tier %s has the algorithm %s, which doesn't use '%s'"
                  .formatted(name, kernel, seenKeys.iterator().next()));
        }
      }
      if (kernel.equals(LINUX) && seed == 0) {
        throw start.fail(
            "tier " + name + " needs a seed: without one Linux chooses an unknown one");
      }
      SwitchHash hash =
          switch (kernel) {
            case LINUX -> new LinuxHash(seed);
            case JENKINS -> new JenkinsHash(seed);
            default ->
                new HashModel(
                    fields,
                    hashes[0],
                    hashes[1],
                    hashes[2],
                    hashes[3],
                    keyAlgorithm,
                    selected,
                    seed,
                    numbers[0],
                    numbers[1],
                    numbers[2],
                    numbers[3]);
          };
      return new FabricTier(name, new EcmpGroup(members), hash, ownSeeds);
    }
  }
}
