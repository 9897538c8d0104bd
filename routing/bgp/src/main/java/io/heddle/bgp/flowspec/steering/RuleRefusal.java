package io.heddle.bgp.flowspec.steering;

/** Reason for refusing a well-formed rule. Refusals are counted by reason. */
public enum RuleRefusal {
  DROPS("it drops traffic"),
  LIMITS_RATE("it limits traffic"),
  REDIRECTS_TO_VRF("it redirects to a VRF"),
  MARKS("it marks or samples traffic"),
  NAMES_NO_LIST("it names no segment list"),
  NAMES_SEVERAL_LISTS("it names several segment lists"),
  FOR_ANOTHER_GATEWAY("it is for another gateway"),
  DESTINATION_NOT_ALLOWED("its destination isn't the peer's to steer"),
  TOO_MANY_RULES("the peer has its most rules"),
  NOT_OF_A_FLOW("it looks at single packets, which no flow is told by");

  private final String text;

  RuleRefusal(String text) {
    this.text = text;
  }

  /** Returns the reason as text. */
  public String text() {
    return text;
  }
}
