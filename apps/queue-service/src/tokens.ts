/** Injection tokens for values that are not classes. */
export const LOGGER = Symbol('logger');
export const REDIS = Symbol('redis');
/** A separate connection: on some servers a connection that subscribes accepts no other commands. */
export const SUBSCRIBER = Symbol('subscriber');
