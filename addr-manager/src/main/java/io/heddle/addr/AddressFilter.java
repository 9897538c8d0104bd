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
 * Filter of the addresses that planes may use, set by two of NCCL's environment variables. {@code
 * NCCL_IB_ADDR_RANGE} is a list of prefixes, one of which must include the address; {@code
 * NCCL_IB_ADDR_FAMILY} is the address family.
 */
public final class AddressFilter {
  /** Filter that every address passes. */
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

  /** Returns this filter, restricted to the addresses that belong to one device. */
  AddressFilter forDevice(String name, Predicate<InetAddress> carries) {
    return new AddressFilter(rangeText, ranges, family, name, carries, remarks);
  }

  /**
   * Parses the values of {@code NCCL_IB_ADDR_RANGE} and {@code NCCL_IB_ADDR_FAMILY}; null or blank
   * allows all addresses. Ignores malformed parts, as NCCL does, and reports them in {@link
   * #remarks}.
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

  /** Returns a sentence about each malformed part of the two variables' values. */
  public List<String> remarks() {
    return remarks;
  }

  /** Returns the reason why this address may not be used, as a clause; empty if it may be used. */
  Optional<String> reasonExcluded(InetAddress address) {
    boolean v6 = address instanceof Inet6Address;
    if (!family.isEmpty() && v6 != family.equals(IPV6)) {
      return Optional.of(FAMILY_VARIABLE + "=" + family + " leaves it out");
    }
    if (!ranges.isEmpty() && ranges.stream().noneMatch(range -> range.includes(address))) {
      return Optional.of(RANGE_VARIABLE + "=" + rangeText + " doesn't include it");
    }
    return carried.test(address)
        ? Optional.empty()
        : Optional.of("it is not an address of device " + device);
  }
}
