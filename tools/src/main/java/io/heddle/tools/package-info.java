/** Tools of a checkout: labs, demos, load tests, benchmarks and simulations. */
@NullMarked
package io.heddle.tools;

import org.jspecify.annotations.NullMarked;
