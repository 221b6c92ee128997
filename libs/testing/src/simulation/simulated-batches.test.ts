import { DomainError } from '#domain/shared/domain-error';
import { Scheduler, type Process } from './scheduler.ts';
import { SimulatedDatabase, Table } from './simulated-database.ts';
import {
  idempotencyKeys,
  inside,
  KeyTaken,
  SimulatedTransactions,
  type KeyGuards,
  type KeyInHand,
} from './simulated-transactions.ts';

// An account that anybody may add to, in a process of its own lane. What is odd is not plain, and is left to be decided alone.

const sums = new Table<{ readonly sum: number; readonly by: readonly string[] }>('sums');

class Till {
  readonly scheduler: Scheduler;
  readonly db: SimulatedDatabase;
  readonly transactions: SimulatedTransactions;
  readonly add: (amount: number) => Promise<string>;
  readonly process: Process = { name: 'p', frozenUntil: 0, steps: 0 };
  refuses: unknown;

  constructor(seed: number, guards: KeyGuards = { fences: true, batchesAnswer: true }) {
    this.scheduler = new Scheduler(seed);
    this.db = new SimulatedDatabase(this.scheduler, { locks: true, serializable: true, skipsLocked: true, spuriousFailures: 0 });
    this.transactions = new SimulatedTransactions(this.db, guards);
    this.db.seed(sums, 'till', { sum: 0, by: [] });
    this.add = this.transactions.together<number, string>({
      many: async (tx, amounts) => {
        const plain = amounts.filter((amount) => amount % 2 === 0);
        await this.write(tx, plain, 'together');
        if (this.refuses) throw this.refuses;
        return amounts.map((amount) => (amount % 2 === 0 ? `together ${amount}` : undefined));
      },
      one: async (tx, amount) => {
        await this.write(tx, [amount], 'alone');
        return `alone ${amount}`;
      },
    });
  }

  asks(amount: number, key?: KeyInHand): void {
    this.scheduler.spawn(`adds ${amount}`, this.process, async () => {
      const work = (): Promise<string> => this.add(amount);
      this.answers.push(await (key ? this.transactions.under(key, work) : work()).catch((error: unknown) => errorOf(error)));
    });
  }

  readonly answers: string[] = [];

  async outcome(): Promise<{ answers: string[]; sum: number; commits: number }> {
    await this.scheduler.run();
    return { answers: this.answers.sort(), sum: this.db.read(sums, 'till')?.sum ?? NaN, commits: this.db.commits };
  }

  private async write(tx: Parameters<typeof inside>[0], amounts: readonly number[], how: string): Promise<void> {
    await inside(tx).statement(`adds ${amounts.join(' ')} ${how}`);
    const row = await inside(tx).lock(sums, 'till');
    const sum = amounts.reduce((total, amount) => total + amount, row?.sum ?? 0);
    if (amounts.length > 0) await inside(tx).put(sums, 'till', { sum, by: [...(row?.by ?? []), how] });
  }
}

const errorOf = (error: unknown): string =>
  error instanceof KeyTaken ? 'key taken' : ((error as DomainError).code ?? String(error));
const keyOf = (key: string): KeyInHand => ({ key, userId: 'ana', render: (answer) => answer });
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);

test('commands that wait share a commit; what is not plain is decided outside of it', async () => {
  const seen = new Set<number>();
  for (const seed of SEEDS) {
    const till = new Till(seed);
    for (const amount of [2, 4, 6, 7]) till.asks(amount);
    const { answers, sum, commits } = await till.outcome();
    expect({ answers, sum }).toEqual({ answers: ['alone 7', 'together 2', 'together 4', 'together 6'], sum: 19 });
    seen.add(commits);
  }
  // One for the three, one for the seven; or each its own, and an empty round of the seven.
  expect(Math.min(...seen)).toBe(2);
  expect(Math.max(...seen)).toBeGreaterThan(2);
});

test('a round that fails is decided again, each alone; nothing of it stays', async () => {
  for (const seed of SEEDS) {
    const till = new Till(seed);
    till.refuses = new Error('one of them is impossible');
    for (const amount of [2, 4, 6]) till.asks(amount);
    expect(await till.outcome()).toEqual({ answers: ['alone 2', 'alone 4', 'alone 6'], sum: 12, commits: 3 });
  }
});

test('what concerns all of them is told to all', async () => {
  const till = new Till(1);
  till.refuses = new DomainError('LOCK_TIMEOUT', 'No.');
  for (const amount of [2, 4]) till.asks(amount);
  expect(await till.outcome()).toEqual({ answers: ['LOCK_TIMEOUT', 'LOCK_TIMEOUT'], sum: 0, commits: 0 });
});

test('whoever waits for a round that dies with its process hears nothing; of all of them everything is done, or nothing', async () => {
  const ends: unknown[] = [];
  for (let steps = 1; steps <= 12; steps += 1) {
    const till = new Till(1);
    till.process.diesAfter = steps;
    for (const amount of [2, 4]) till.asks(amount);
    const { answers, sum } = await till.outcome();
    if (answers.length < 2) ends.push(sum);
  }
  expect(new Set(ends)).toEqual(new Set([0, 6]));
});

describe('the same request twice at the same time, among others', () => {
  const twice = async (seed: number, guards?: KeyGuards): Promise<{ sum: number; stored: unknown[] }> => {
    const till = new Till(seed, guards);
    for (const amount of [2, 2]) till.asks(amount, keyOf('k'));
    till.asks(8, keyOf('other'));
    const { sum } = await till.outcome();
    return { sum, stored: till.db.rows(idempotencyKeys).map(({ answer }) => answer) };
  };

  test('is done once, and its answer is stored with it', async () => {
    for (const seed of SEEDS) {
      const { sum, stored } = await twice(seed);
      expect([sum, stored.length, stored.every((answer) => typeof answer === 'string')]).toEqual([10, 2, true]);
    }
  });

  test('is done twice if a round does not store its answers with what it does', async () => {
    const sumsSeen = new Set<number>();
    for (const seed of SEEDS) sumsSeen.add((await twice(seed, { fences: true, batchesAnswer: false })).sum);
    expect([...sumsSeen]).toEqual([12]);
  });
});
