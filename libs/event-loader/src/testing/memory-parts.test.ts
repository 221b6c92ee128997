import { eventStoreContract } from './event-store.contract.ts';
import { lockFactoryContract } from './lock-factory.contract.ts';
import { ManualTime, MemoryRateLimiter, MemoryLocks, MemoryStore } from './memory-parts.ts';
import { sourceRateLimiterContract } from './source-rate-limiter.contract.ts';

describe('memory store', () => {
  const store = new MemoryStore();
  eventStoreContract(() => ({
    store,
    storedOf: (source) => Promise.resolve(store.stored(source).toSorted((a, b) => Number(a) - Number(b))),
    quarantinedOf: (source) => Promise.resolve(store.quarantined(source)),
  }));
});

describe('memory locks', () => {
  const locks = new MemoryLocks();
  lockFactoryContract(() => ({
    first: locks,
    second: locks,
    expire: () => Promise.resolve(locks.expireAll()),
  }));
});

describe('memory rate limiter', () => {
  const time = new ManualTime();
  const limiter = new MemoryRateLimiter(time);
  sourceRateLimiterContract(() => ({
    first: limiter,
    second: limiter,
    gapMs: 200,
    sleep: (ms) => time.sleep(ms),
    now: () => time.now(),
  }));
});
