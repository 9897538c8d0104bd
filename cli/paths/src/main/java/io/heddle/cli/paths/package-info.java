/**
 * {@code heddle paths}: which links of a fabric flows take, foretold from a model. Runs on its
 * caller's thread.
 */
@NullMarked
package io.heddle.cli.paths;

import org.jspecify.annotations.NullMarked;
