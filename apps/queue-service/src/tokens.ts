/** Nest injection token of the logger. */
export const LOGGER = Symbol('logger');
/** Nest injection token of the Redis connection that subscribes. On some servers such a connection accepts no other commands. */
export const SUBSCRIBER = Symbol('subscriber');
