package io.heddle.bgp.wire;

/** Names of NOTIFICATION codes, by IANA's registry. */
final class NotificationNames {
  private static final String[][] NAMES = {
    {"code 0"},
    {"message header error", "not synchronised", "bad length", "bad type"},
    {
      "OPEN error",
      "unsupported version",
      "bad peer AS",
      "bad BGP identifier",
      "unsupported optional parameter",
      "authentication failure",
      "unacceptable hold time",
      "unsupported capability",
      "8",
      "9",
      "10",
      "role mismatch"
    },
    {
      "UPDATE error",
      "malformed attribute list",
      "unrecognised well-known attribute",
      "missing well-known attribute",
      "attribute flags",
      "attribute length",
      "invalid origin",
      "routing loop",
      "invalid next hop",
      "optional attribute",
      "invalid network field",
      "malformed AS path"
    },
    {"hold timer expired"},
    {"state machine error", "in OpenSent", "in OpenConfirm", "in Established"},
    {
      "Cease",
      "maximum number of prefixes",
      "administrative shutdown",
      "peer deconfigured",
      "administrative reset",
      "connection rejected",
      "other configuration change",
      "connection collision",
      "out of resources",
      "hard reset",
      "BFD down"
    },
    {"ROUTE-REFRESH error", "invalid length"},
    {"send hold timer expired"},
  };

  private NotificationNames() {}

  static String of(int code, int subcode) {
    if (code >= NAMES.length) {
      return "code " + code;
    }
    String[] names = NAMES[code];
    return subcode > 0 && subcode < names.length ? names[0] + "/" + names[subcode] : names[0];
  }
}
