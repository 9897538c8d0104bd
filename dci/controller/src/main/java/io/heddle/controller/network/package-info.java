/**
 * What a controller is told of its network: whom to ask, whom to tell, and over what lists lead.
 */
@NullMarked
package io.heddle.controller.network;

import org.jspecify.annotations.NullMarked;
