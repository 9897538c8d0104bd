package io.heddle.bgp.wire;

import io.heddle.bgp.wire.ExtendedCommunity.Color;
import io.heddle.bgp.wire.ExtendedCommunity.FibSuppress;
import io.heddle.bgp.wire.ExtendedCommunity.LinkBandwidth;
import io.heddle.bgp.wire.ExtendedCommunity.PathBandwidth;
import io.heddle.bgp.wire.ExtendedCommunity.Unreachable;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Path attributes that routes share. A decoder returns the same object for the same bytes while its
 * cache holds them, so a routing table holds few objects.
 */
public final class PathAttributes {
  public static final PathAttributes EMPTY = new PathAttributes(List.of());

  private final List<PathAttribute> all;
  private final List<ExtendedCommunity> extendedCommunities;
  private final @Nullable PathBandwidth pathBandwidth;
  private final @Nullable LinkBandwidth linkBandwidth;
  private final @Nullable Color color;
  private final PathAttribute.@Nullable Aigp aigp;
  private final AsPath asPath;
  private final boolean unreachable;
  private final int hash;

  /**
   * @param all attributes in wire order, at most one per code
   */
  public PathAttributes(List<PathAttribute> all) {
    this.all = List.copyOf(all);
    List<ExtendedCommunity> communities = List.of();
    PathAttribute.Aigp metric = null;
    AsPath path = AsPath.EMPTY;
    for (PathAttribute each : this.all) {
      if (each instanceof PathAttribute.ExtendedCommunities many) {
        communities = many.values();
      } else if (each instanceof PathAttribute.Aigp found) {
        metric = found;
      } else if (each instanceof PathAttribute.Path found) {
        path = found.path();
      }
    }
    extendedCommunities = communities;
    aigp = metric;
    asPath = path;
    PathBandwidth lowestPath = null;
    LinkBandwidth lowestLink = null;
    Color highestColor = null;
    boolean foundUnreachable = false;
    for (ExtendedCommunity each : communities) {
      switch (each) {
        case PathBandwidth found -> {
          if (lowestPath == null || found.gigabitsPerSecond() < lowestPath.gigabitsPerSecond()) {
            lowestPath = found;
          }
        }
        case LinkBandwidth found -> {
          if (found.isPlausible()
              && (lowestLink == null || found.bytesPerSecond() < lowestLink.bytesPerSecond())) {
            lowestLink = found;
          }
        }
        case Color found -> {
          if (highestColor == null || found.color() > highestColor.color()) {
            highestColor = found;
          }
        }
        case Unreachable found -> foundUnreachable = true;
        case FibSuppress ignored -> {
          /* Nothing to derive: this community is for routers. */
        }
        case ExtendedCommunity.Redirect ignored -> {
          /* Nothing to derive: this community is for receivers of Flowspec rules. */
        }
        case ExtendedCommunity.RouteTarget ignored -> {
          /* Nothing to derive: the receiver of the routes reads this community itself. */
        }
        case ExtendedCommunity.Other other -> {
          /* Nothing to derive: the community is unknown. */
        }
      }
    }
    pathBandwidth = lowestPath;
    linkBandwidth = lowestLink;
    color = highestColor;
    unreachable = foundUnreachable;
    hash = this.all.hashCode();
  }

  public static PathAttributes of(PathAttribute... all) {
    return new PathAttributes(List.of(all));
  }

  public List<PathAttribute> all() {
    return all;
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  public <T extends PathAttribute> @Nullable T find(Class<T> type) {
    for (PathAttribute each : all) {
      if (type.isInstance(each)) {
        return type.cast(each);
      }
    }
    return null;
  }

  public List<ExtendedCommunity> extendedCommunities() {
    return extendedCommunities;
  }

  /** Returns the AS path; empty if absent. */
  public AsPath asPath() {
    return asPath;
  }

  /** Returns the lowest path bandwidth, zero included: zero means unreachable. */
  public @Nullable PathBandwidth pathBandwidth() {
    return pathBandwidth;
  }

  /**
   * Returns the lowest plausible link bandwidth, zero included, of any transitivity (RFC 10005).
   */
  public @Nullable LinkBandwidth linkBandwidth() {
    return linkBandwidth;
  }

  /** Returns the highest colour (RFC 9256 §8.8.1); null for none. */
  public @Nullable Color color() {
    return color;
  }

  public PathAttribute.@Nullable Aigp aigp() {
    return aigp;
  }

  /**
   * Returns whether an unreachability community is present. A path bandwidth of 0 also means
   * unreachable, but doesn't count here.
   */
  public boolean isUnreachable() {
    return unreachable;
  }

  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof PathAttributes that && hash == that.hash && all.equals(that.all);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return all.stream().map(Object::toString).collect(Collectors.joining(", "));
  }
}
