package io.heddle.bgp.wire;

import static io.heddle.bgp.wire.PathAttribute.EXTENDED_LENGTH;
import static io.heddle.bgp.wire.PathAttribute.OPTIONAL;
import static io.heddle.bgp.wire.PathAttribute.TRANSITIVE;

/** Encoder of path attributes. */
final class AttributeEncoder {
  private static final int LONGEST_SHORT = 255;

  private final WireOptions options;

  AttributeEncoder(WireOptions options) {
    this.options = options;
  }

  void encode(PathAttribute attribute, WireWriter out) {
    WireWriter value = new WireWriter();
    int flags =
        switch (attribute) {
          case PathAttribute.Origin one -> {
            value.u8(one.value());
            yield TRANSITIVE;
          }
          case PathAttribute.Path one -> {
            path(one.path(), value);
            yield TRANSITIVE;
          }
          case PathAttribute.MultiExitDiscriminator one -> {
            value.u32(one.metric());
            yield OPTIONAL;
          }
          case PathAttribute.LocalPreference one -> {
            value.u32(one.preference());
            yield TRANSITIVE;
          }
          case PathAttribute.AtomicAggregate one -> TRANSITIVE;
          case PathAttribute.Aggregator one -> {
            autonomousSystem(one.autonomousSystem(), value);
            value.u32(one.routerId());
            yield OPTIONAL | TRANSITIVE;
          }
          case PathAttribute.Communities one -> {
            one.values().forEach(value::u32);
            yield OPTIONAL | TRANSITIVE;
          }
          case PathAttribute.ExtendedCommunities one -> {
            one.values().forEach(each -> value.u64(each.bits(options.codePoints())));
            yield OPTIONAL | TRANSITIVE;
          }
          case PathAttribute.LargeCommunities one -> {
            one.values()
                .forEach(
                    each -> value.u32(each.administrator()).u32(each.first()).u32(each.second()));
            yield OPTIONAL | TRANSITIVE;
          }
          case PathAttribute.Aigp one -> {
            value.u8(PathAttribute.Aigp.TLV_TYPE).u16(PathAttribute.Aigp.TLV_BYTES);
            value.u64(one.metric());
            yield OPTIONAL;
          }
          case PathAttribute.Unknown one -> {
            value.bytes(one.value());
            yield one.flags();
          }
        };
    if (value.size() > LONGEST_SHORT) {
      out.u8(flags | EXTENDED_LENGTH).u8(attribute.code()).u16(value.size());
    } else {
      out.u8(flags).u8(attribute.code()).u8(value.size());
    }
    out.bytes(value.toArray());
  }

  private void path(AsPath path, WireWriter out) {
    for (AsPath.Segment segment : path.segments()) {
      out.u8(segment.type()).u8(segment.autonomousSystems().size());
      segment.autonomousSystems().forEach(each -> autonomousSystem(each, out));
    }
  }

  private void autonomousSystem(long number, WireWriter out) {
    if (options.fourOctetAs()) {
      out.u32(number);
    } else {
      out.u16(number > 0xffff ? ExtendedCommunity.AS_TRANS : (int) number);
    }
  }
}
