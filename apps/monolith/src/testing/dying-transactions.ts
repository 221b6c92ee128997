import { TransactionManager, type RunOptions, type SharedWork, type Transaction } from '#application/transaction-manager';
import { inside, type PostgresTransaction } from '#platform/postgres/transaction';

/** The process has died. */
export class Killed extends Error {}

/**
 * Test helper: transactions of a process that dies at one step, as with kill -9. A step is a statement, the commit, and what follows
 * the commit. PostgreSQL rolls back what a dead process has not committed.
 */
export class DyingTransactions extends TransactionManager {
  private steps = 0;

  constructor(
    private readonly real: TransactionManager,
    /** The process dies before this step; 1 is the first statement. */
    private readonly diesBefore: number,
  ) {
    super();
  }

  async run<T>(work: (tx: Transaction) => Promise<T>, options?: RunOptions): Promise<T> {
    const result = await this.real.run(async (tx) => {
      const worked = await work(this.counting(inside(tx)));
      this.step();
      return worked;
    }, options);
    this.step();
    return result;
  }

  runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.run(work);
  }

  together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    return this.real.together(work);
  }

  stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    return this.real.stepTogether(work);
  }

  private counting(tx: PostgresTransaction): PostgresTransaction {
    const beforeEach =
      <A extends readonly unknown[], R>(send: (...args: A) => R) =>
      (...args: A): R => {
        this.step();
        return send.apply(tx, args as never);
      };
    const counted = { rows: beforeEach(tx.rows.bind(tx)), write: beforeEach(tx.write.bind(tx)) };
    return new Proxy(tx, { get: (target, name) => Reflect.get(name in counted ? counted : target, name) as unknown });
  }

  private step(): void {
    this.steps += 1;
    if (this.steps === this.diesBefore) throw new Killed('killed');
  }
}

/** Runs an action again and again, each time in a process that dies one step later, until it lives to the end. Returns the deaths. */
export async function killedAtEachStep(
  real: TransactionManager,
  action: (transactions: TransactionManager) => Promise<unknown>,
  afterDeath: (step: number) => Promise<void>,
): Promise<number> {
  for (let step = 1; ; step += 1) {
    try {
      await action(new DyingTransactions(real, step));
      return step - 1;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await afterDeath(step);
    }
  }
}
