/** What is injected without being a class. */
export const LOGGER = Symbol('logger');
export const CONFIG = Symbol('config');
export const REDIS = Symbol('redis');
/** Whether this process runs the loops (relays, listeners, schedules), or only borrows use cases. */
export const LOOPS = Symbol('loops');
