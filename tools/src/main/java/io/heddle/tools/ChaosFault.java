package io.heddle.tools;

/** What the soak does to a running connection. */
enum ChaosFault {
  CARRIER_CUT("link down", true),
  SILENT_CUT("silent cut", true),
  ADDRESS_REMOVED("address removed", true),
  LOSS("loss on a plane", false),
  STOPPED_PEER("peer stopped", false);

  private final String text;
  private final boolean takesPlane;

  ChaosFault(String text, boolean takesPlane) {
    this.text = text;
    this.takesPlane = takesPlane;
  }

  String text() {
    return text;
  }

  /** Whether nothing passes on the plane meanwhile. */
  boolean takesPlane() {
    return takesPlane;
  }
}
