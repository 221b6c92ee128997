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
    one: locks,
    other: locks,
    lapse: () => Promise.resolve(locks.lapseAll()),
  }));
});

describe('memory gate', () => {
  const time = new ManualTime();
  const gate = new MemoryRateLimiter(time);
  sourceRateLimiterContract(() => ({ one: gate, other: gate, gapMs: 200, sleep: (ms) => time.sleep(ms) }));
});
