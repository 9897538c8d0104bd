package io.heddle.cli.doctor;

/**
 * Kind of fault.
 *
 * @param id name for scripts, in kebab case; it never changes
 * @param meaning explanation in the list of checks, one sentence
 */
record Cause(String id, String meaning) {}
