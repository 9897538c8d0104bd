package io.heddle.tools.lab;

import java.util.Locale;

/** Shape of a fabric. */
public enum FabricShape {
  /** Every leaf is connected to every spine; a plane is the path over one link of one spine. */
  LEAF_SPINE("leaf-spine"),

  /** Each plane is a separate network, here one leaf; every host is on each of them. */
  PLANES("planes");

  private final String text;

  FabricShape(String text) {
    this.text = text;
  }

  /** Returns the name in options and files. */
  public String text() {
    return text;
  }

  /**
   * Parses a name.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static FabricShape named(String text) {
    for (FabricShape shape : values()) {
      if (shape.text.equals(text.toLowerCase(Locale.ROOT))) {
        return shape;
      }
    }
    throw new IllegalArgumentException(
        "'" + text + "' is not a shape of a fabric: use leaf-spine or planes");
  }
}
