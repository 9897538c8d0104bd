package io.heddle.bgp.flowspec.steering;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.FamilyRoutes;
import io.heddle.bgp.wire.MessageDecoder;
import io.heddle.bgp.wire.MessageEncoder;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.bgp.wire.WireOptions;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of announcements' path attributes, byte for byte. */
class SteeringAttributesTest {
  private static final int GATEWAY = 0x0a000001;
  private static final ColorEncoding COLORS =
      new ColorEncoding(
          ColorEncoding.DEFAULT_REDIRECT_TYPE,
          Map.of(
              2, new ColorEncoding.Policy(102, Prefix.of("5f00:0:99::d6")),
              3, new ColorEncoding.Policy(103, Prefix.of("5f00:0:99::d6"))));

  private static String hex(SteeringEncoding encoding, boolean external) {
    return HexFormat.of().formatHex(update(encoding, external));
  }

  private static byte[] update(SteeringEncoding encoding, boolean external) {
    UpdateMessage update =
        UpdateMessage.of(
            FamilyRoutes.announce(Rules.CODEC, List.of(Rules.queuePair("fd00:2::2", 0x11)), null),
            new SteeringAttributes(encoding).write(2, GATEWAY, 65001, external));
    return new MessageEncoder(options(external)).encode(update);
  }

  private static WireOptions options(boolean external) {
    WireOptions defaults = WireOptions.DEFAULT;
    return new WireOptions(
        true,
        external,
        true,
        false,
        defaults.maxMessageBytes(),
        defaults.codePoints(),
        Families.of(List.of(Rules.CODEC)));
  }

  private static SteeringEncoding.ListOrRefusal read(SteeringEncoding encoding, boolean external) {
    byte[] bytes = update(encoding, external);
    UpdateMessage update =
        (UpdateMessage) new MessageDecoder(options(external)).decode(bytes, 0, bytes.length);
    assertEquals(List.of(Rules.queuePair("fd00:2::2", 0x11)), update.of(Rules.CODEC).announced());
    return new SteeringAttributes(encoding).read(update.attributes(), GATEWAY);
  }

  @Test
  void indirectionIdNamesTheListAndATargetTheGateway() {
    String bytes = hex(IndirectionEncoding.DEFAULT, true);
    assertTrue(bytes.contains("900e0026000285" + "00" + "00" + "20018000"), bytes);
    assertTrue(bytes.contains("40020602010000fde9"), bytes);
    assertTrue(bytes.contains("c01010" + "0900000500000002" + "01020a0000010000"), bytes);
    assertEquals(SteeringEncoding.ListOrRefusal.of(2), read(IndirectionEncoding.DEFAULT, true));
  }

  @Test
  void internalPeerGetsAnEmptyAsPathAndALocalPreference() {
    String bytes = hex(IndirectionEncoding.DEFAULT, false);
    assertTrue(bytes.contains("400200" + "40050400000064"), bytes);
    assertEquals(SteeringEncoding.ListOrRefusal.of(2), read(IndirectionEncoding.DEFAULT, false));
  }

  @Test
  void colorEncodingNamesAPolicyByColourAndEndpoint() {
    String bytes = hex(COLORS, true);
    assertTrue(bytes.contains("030b000000000066"), bytes);
    assertTrue(bytes.contains("c01914000c5f0000000099" + "0".repeat(16) + "00d60000"), bytes);
    assertEquals(SteeringEncoding.ListOrRefusal.of(2), read(COLORS, true));
    assertThrows(IllegalArgumentException.class, () -> COLORS.communities(4));
  }

  @Test
  void ruleForAnotherGatewayIsRefused() {
    SteeringAttributes steering = new SteeringAttributes(IndirectionEncoding.DEFAULT);
    PathAttributes attributes = steering.write(2, 0x0a000002, 65001, true);
    assertEquals(RuleRefusal.FOR_ANOTHER_GATEWAY, steering.read(attributes, GATEWAY).refusal());
    assertNull(steering.read(attributes, 0x0a000002).refusal());
  }

  @Test
  void onlyARedirectToOneListIsTaken() {
    ExtendedCommunity list = new ExtendedCommunity.Redirect(0, 5, 2);
    assertRefused(RuleRefusal.NAMES_NO_LIST);
    assertRefused(RuleRefusal.NAMES_NO_LIST, new ExtendedCommunity.Redirect(0, 4, 2));
    assertRefused(RuleRefusal.NAMES_SEVERAL_LISTS, list, new ExtendedCommunity.Redirect(0, 5, 3));
    assertRefused(RuleRefusal.DROPS, list, new ExtendedCommunity.Other(0x8006_fde9_0000_0000L));
    assertRefused(
        RuleRefusal.LIMITS_RATE, list, new ExtendedCommunity.Other(0x8006_fde9_4cee_6b28L));
    assertRefused(RuleRefusal.DROPS, list, new ExtendedCommunity.Other(0x800c_0000_0000_0000L));
    assertRefused(RuleRefusal.MARKS, list, new ExtendedCommunity.Other(0x8007_0000_0000_0001L));
    assertRefused(RuleRefusal.MARKS, list, new ExtendedCommunity.Other(0x8009_0000_0000_002eL));
    for (long type : List.of(0x8008L, 0x8108L, 0x8208L)) {
      assertRefused(
          RuleRefusal.REDIRECTS_TO_VRF, list, new ExtendedCommunity.Other(type << 48 | 1));
    }
  }

  private static void assertRefused(RuleRefusal expected, ExtendedCommunity... communities) {
    PathAttributes attributes =
        PathAttributes.of(new PathAttribute.ExtendedCommunities(List.of(communities)));
    SteeringAttributes steering = new SteeringAttributes(IndirectionEncoding.DEFAULT);
    assertEquals(expected, steering.read(attributes, GATEWAY).refusal());
  }

  @Test
  void twoListsOfOnePolicyAreRefused() {
    ColorEncoding.Policy same = new ColorEncoding.Policy(1, Prefix.of("5f00::1"));
    assertThrows(
        IllegalArgumentException.class, () -> new ColorEncoding(12, Map.of(1, same, 2, same)));
  }
}
