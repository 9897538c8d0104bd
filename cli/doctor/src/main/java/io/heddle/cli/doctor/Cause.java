package io.heddle.cli.doctor;

/**
 * Something that can be wrong, under a name that scripts may rely on.
 *
 * @param id in kebab case
 * @param meaning one sentence for the list of checks
 */
record Cause(String id, String meaning) {}
