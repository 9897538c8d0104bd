/**
 * Tests of rules for every file of the repository: architecture, style, and links that lead
 * somewhere.
 */
@NullMarked
package io.heddle.systemtests.style;

import org.jspecify.annotations.NullMarked;
