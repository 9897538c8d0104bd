package io.heddle.addr;

import io.heddle.platform.NearestName;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which addresses may be planes at all, by the variables that users of NCCL know: {@code
 * NCCL_IB_ADDR_RANGE}, a list of prefixes of which one must fit, and {@code NCCL_IB_ADDR_FAMILY}.
 */
public final class AddressFilter {
  /** Lets every address pass. */
  public static final AddressFilter NONE =
      new AddressFilter("", List.of(), "", "", address -> true, List.of());

  public static final String RANGE_VARIABLE = "NCCL_IB_ADDR_RANGE";
  public static final String FAMILY_VARIABLE = "NCCL_IB_ADDR_FAMILY";

  private static final String IPV6 = "AF_INET6";
  private static final List<String> FAMILIES = List.of("AF_INET", IPV6);

  private final String rangeText;
  private final List<AddressPrefix> ranges;
  private final String family;
  private final String device;
  private final Predicate<InetAddress> carried;
  private final List<String> remarks;

  private AddressFilter(
      String rangeText,
      List<AddressPrefix> ranges,
      String family,
      String device,
      Predicate<InetAddress> carried,
      List<String> remarks) {
    this.rangeText = rangeText;
    this.ranges = List.copyOf(ranges);
    this.family = family;
    this.device = device;
    this.carried = carried;
    this.remarks = List.copyOf(remarks);
  }

  /** The same, of one device's addresses. */
  AddressFilter within(String name, Predicate<InetAddress> carries) {
    return new AddressFilter(rangeText, ranges, family, name, carries, remarks);
  }

  /**
   * Reads both variables' values; null or blank allows all. Leaves out what it doesn't understand,
   * as NCCL does, and says so in {@link #remarks}.
   */
  public static AddressFilter parse(@Nullable String range, @Nullable String family) {
    List<String> remarks = new ArrayList<>();
    String wanted = family == null ? "" : family.strip();
    if (!wanted.isEmpty() && !FAMILIES.contains(wanted)) {
      remarks.add(
          "%s=%s is not understood and counts as not set; allowed is one of %s; did you mean %s?"
              .formatted(
                  FAMILY_VARIABLE,
                  wanted,
                  String.join(", ", FAMILIES),
                  NearestName.of(wanted, FAMILIES)));
      wanted = "";
    }
    String text = range == null ? "" : range.strip();
    List<AddressPrefix> prefixes = new ArrayList<>();
    for (String part : text.isEmpty() ? new String[0] : text.split(",")) {
      try {
        prefixes.add(AddressPrefix.parse(part.strip()));
      } catch (IllegalArgumentException malformed) {
        remarks.add(
            ("%s=%s: part \"%s\" is not understood and is left out: %s; allowed is a list of"
                    + " prefixes such as fd00:1:1::/48,fd00:1:2::/48")
                .formatted(RANGE_VARIABLE, text, part.strip(), malformed.getMessage()));
      }
    }
    return new AddressFilter(text, prefixes, wanted, "", address -> true, remarks);
  }

  /** Sentences about parts of the variables that are left out. */
  public List<String> remarks() {
    return remarks;
  }

  /** Why this address may not be used, as a clause; empty where it may. */
  Optional<String> whyNot(InetAddress address) {
    boolean v6 = address instanceof Inet6Address;
    if (!family.isEmpty() && v6 != family.equals(IPV6)) {
      return Optional.of(FAMILY_VARIABLE + "=" + family + " leaves it out");
    }
    if (!ranges.isEmpty() && ranges.stream().noneMatch(range -> range.includes(address))) {
      return Optional.of(RANGE_VARIABLE + "=" + rangeText + " doesn't include it");
    }
    return carried.test(address)
        ? Optional.empty()
        : Optional.of("it is no address of device " + device);
  }
}
