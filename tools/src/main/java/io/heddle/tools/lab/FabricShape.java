package io.heddle.tools.lab;

import java.util.Locale;

/** Shape of a fabric. */
public enum FabricShape {
  /**
   * Leaves that are each connected to every spine. A plane is the path over one link of one spine.
   */
  LEAF_SPINE("leaf-spine"),

  /**
   * Planes that are separate networks, each with one leaf. Every host is connected to each plane.
   */
  PLANES("planes");

  private final String text;

  FabricShape(String text) {
    this.text = text;
  }

  /** Returns the name of the shape in options and files. */
  public String text() {
    return text;
  }

  /**
   * Returns the shape with a name.
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
