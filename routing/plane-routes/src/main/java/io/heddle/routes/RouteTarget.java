package io.heddle.routes;

import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import java.util.List;

/**
 * What a table of routes writes to: the routes file ({@link RoutePublisher}), or a simulator's
 * memory. Used by one thread. Changes lie between {@link #begin} and {@link #commit}.
 */
public interface RouteTarget {
  /** Where it lies, for people. */
  Path path();

  /** Whether somebody else has spoilt it, so that it must be made anew. */
  boolean isCut();

  /**
   * Begins it anew, with its planes and rules, without routes.
   *
   * @throws HeddleException when it can't be made
   */
  void renew();

  /** Readers weigh by these rules from now on. Outside of a change. */
  void setRules(WeightRules next);

  /** The planes, in order of their numbers. */
  List<PublishedPlane> planes();

  /**
   * Adds a plane, or changes the one with its key. Outside of a change.
   *
   * @return its number, which it keeps
   * @throws HeddleException for more planes than there may be
   */
  int setPlane(PublishedPlane plane);

  /** Begins a change, of which readers see all or nothing. */
  void begin();

  /**
   * Sets what a plane says of a prefix; {@link RouteCell#EMPTY} takes it back.
   *
   * @param high the prefix's first 64 bits, all beyond its length zero
   * @param plane a number that {@link #setPlane} gave
   * @throws HeddleException when there is no room
   */
  void set(long high, long low, int length, int plane, int cell);

  /**
   * Ends the change.
   *
   * @return whether anything had changed
   */
  boolean commit();

  /**
   * Makes room for so many prefixes, so that to set them doesn't fail.
   *
   * @throws HeddleException when there is no room; all stays as it was
   */
  void reserve(int prefixes);

  /** Takes everything back, as part of a change. */
  void clear();

  /** Prefixes that are in it. */
  int entries();
}
