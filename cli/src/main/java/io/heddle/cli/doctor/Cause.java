package io.heddle.cli.doctor;

/**
 * Kind of fault, with a stable name for scripts.
 *
 * @param id in kebab case
 * @param meaning one sentence for the list of checks
 */
record Cause(String id, String meaning) {}
