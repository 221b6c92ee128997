import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs a function outside the context of every request: this module is loaded before the first request. */
export const outsideRequests = AsyncLocalStorage.snapshot();
