/** What is injected without being a class. */
export const LOGGER = Symbol('logger');
export const REDIS = Symbol('redis');
/** A connection of its own: one that subscribes can do nothing else on every server. */
export const SUBSCRIBER = Symbol('subscriber');
