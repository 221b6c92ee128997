import { DomainError } from '#domain/shared/domain-error';
import { Scheduler, type Process } from './scheduler.ts';
import { SimulatedDatabase, Table } from './simulated-database.ts';
import {
  idempotencyKeys,
  inside,
  KeyTaken,
  SimulatedTransactions,
  type KeyGuards,
  type CurrentKey,
} from './simulated-transactions.ts';

// The commands of these tests add amounts to one account. Even amounts can be decided together in a batch; an odd amount must be
// decided alone.

const sums = new Table<{ readonly sum: number; readonly by: readonly string[] }>('sums');

class Account {
  readonly scheduler: Scheduler;
  readonly db: SimulatedDatabase;
  readonly transactions: SimulatedTransactions;
  readonly add: (amount: number) => Promise<string>;
  readonly process: Process = { name: 'p', frozenUntil: 0, steps: 0 };
  /** When set, every batch throws this error. */
  batchError: unknown;

  constructor(seed: number, guards: KeyGuards = { writesKeyRow: true, batchesAnswer: true }) {
    this.scheduler = new Scheduler(seed);
    this.db = new SimulatedDatabase(this.scheduler, { locks: true, serializable: true, skipsLocked: true, spuriousFailures: 0 });
    this.transactions = new SimulatedTransactions(this.db, guards);
    this.db.seed(sums, 'account', { sum: 0, by: [] });
    this.add = this.transactions.together<number, string>({
      many: async (tx, amounts) => {
        const even = amounts.filter((amount) => amount % 2 === 0);
        await this.write(tx, even, 'together');
        if (this.batchError) throw this.batchError;
        return amounts.map((amount) => (amount % 2 === 0 ? `together ${amount}` : undefined));
      },
      one: async (tx, amount) => {
        await this.write(tx, [amount], 'alone');
        return `alone ${amount}`;
      },
    });
  }

  request(amount: number, key?: CurrentKey): void {
    this.scheduler.spawn(`adds ${amount}`, this.process, async () => {
      const work = (): Promise<string> => this.add(amount);
      this.answers.push(await (key ? this.transactions.under(key, work) : work()).catch((error: unknown) => errorOf(error)));
    });
  }

  readonly answers: string[] = [];

  async outcome(): Promise<{ answers: string[]; sum: number; commits: number }> {
    await this.scheduler.run();
    return { answers: this.answers.sort(), sum: this.db.read(sums, 'account')?.sum ?? NaN, commits: this.db.commits };
  }

  private async write(tx: Parameters<typeof inside>[0], amounts: readonly number[], how: string): Promise<void> {
    await inside(tx).statement(`adds ${amounts.join(' ')} ${how}`);
    const row = await inside(tx).lock(sums, 'account');
    const sum = amounts.reduce((total, amount) => total + amount, row?.sum ?? 0);
    if (amounts.length > 0) await inside(tx).put(sums, 'account', { sum, by: [...(row?.by ?? []), how] });
  }
}

const errorOf = (error: unknown): string =>
  error instanceof KeyTaken ? 'key taken' : ((error as DomainError).code ?? String(error));
const keyOf = (key: string): CurrentKey => ({ key, userId: 'ana', render: (answer) => answer });
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);

test('commands that wait together share a commit; a command that their batch leaves undecided is decided alone', async () => {
  const seen = new Set<number>();
  for (const seed of SEEDS) {
    const account = new Account(seed);
    for (const amount of [2, 4, 6, 7]) account.request(amount);
    const { answers, sum, commits } = await account.outcome();
    expect({ answers, sum }).toEqual({ answers: ['alone 7', 'together 2', 'together 4', 'together 6'], sum: 19 });
    seen.add(commits);
  }
  // At best there are two commits: one for the three even amounts, one for the 7. At worst each command has its own commit, and the
  // batch of the 7, which decides nothing, has one more.
  expect(Math.min(...seen)).toBe(2);
  expect(Math.max(...seen)).toBeGreaterThan(2);
});

test('if a batch fails, none of its effects is stored, and each of its commands is decided alone', async () => {
  for (const seed of SEEDS) {
    const account = new Account(seed);
    account.batchError = new Error('the batch fails');
    for (const amount of [2, 4, 6]) account.request(amount);
    expect(await account.outcome()).toEqual({ answers: ['alone 2', 'alone 4', 'alone 6'], sum: 12, commits: 3 });
  }
});

test('if a batch throws a DomainError, each of its commands is answered with this error', async () => {
  const account = new Account(1);
  account.batchError = new DomainError('LOCK_TIMEOUT', 'No.');
  for (const amount of [2, 4]) account.request(amount);
  expect(await account.outcome()).toEqual({ answers: ['LOCK_TIMEOUT', 'LOCK_TIMEOUT'], sum: 0, commits: 0 });
});

test('if the process dies during a batch, waiting commands get no answer, and either all of them or none took effect', async () => {
  const finalSums: unknown[] = [];
  for (let steps = 1; steps <= 12; steps += 1) {
    const account = new Account(1);
    account.process.diesAfterSteps = steps;
    for (const amount of [2, 4]) account.request(amount);
    const { answers, sum } = await account.outcome();
    if (answers.length < 2) finalSums.push(sum);
  }
  expect(new Set(finalSums)).toEqual(new Set([0, 6]));
});

describe('a request that a client sends twice with one idempotency key, while a different request runs', () => {
  const twice = async (seed: number, guards?: KeyGuards): Promise<{ sum: number; stored: unknown[] }> => {
    const account = new Account(seed, guards);
    for (const amount of [2, 2]) account.request(amount, keyOf('k'));
    account.request(8, keyOf('other'));
    const { sum } = await account.outcome();
    return { sum, stored: account.db.rows(idempotencyKeys).map(({ answer }) => answer) };
  };

  test('takes effect once, and its answer is stored with the effect', async () => {
    for (const seed of SEEDS) {
      const { sum, stored } = await twice(seed);
      expect([sum, stored.length, stored.every((answer) => typeof answer === 'string')]).toEqual([10, 2, true]);
    }
  });

  test('negative control: takes effect twice if batches do not store the answers of their commands', async () => {
    const sumsSeen = new Set<number>();
    for (const seed of SEEDS) sumsSeen.add((await twice(seed, { writesKeyRow: true, batchesAnswer: false })).sum);
    expect([...sumsSeen]).toEqual([12]);
  });
});
