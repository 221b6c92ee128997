import {
  databaseSemanticsContract,
  type HistoryPlayer,
  type Operation,
  type Session,
  type OperationResult,
} from './database-semantics.contract.ts';
import { Scheduler, type Task } from './scheduler.ts';
import { SimulatedDatabase, SqlError, Table, type SimulatedTransaction } from './simulated-database.ts';

const cells = new Table<{ readonly value: number }>('cells');
const ALL_PROTECTIONS = { locks: true, serializable: true, skipsLocked: true, spuriousFailures: 0 };

class SimulatedPlayer implements HistoryPlayer {
  private readonly scheduler = new Scheduler(1);
  private readonly db = new SimulatedDatabase(this.scheduler, ALL_PROTECTIONS);
  private readonly open = new Map<Session, SimulatedTransaction>();

  constructor() {
    this.scheduler.clockRate = 0;
    for (const row of ['x', 'y', 'z']) this.db.seed(cells, row, { value: 10 });
  }

  async play(history: readonly (readonly [Session, Operation])[]): ReturnType<HistoryPlayer['play']> {
    const results: OperationResult[] = [];
    const resultsAfterWait: Record<number, OperationResult> = {};
    this.scheduler.spawn('player', undefined, async () => {
      const waiting: { index: number; task: Task }[] = [];
      for (const [index, [session, operation]] of history.entries()) {
        const task = this.scheduler.spawn(`${session} ${operation.do}`, undefined, () => this.perform(session, operation));
        await this.scheduler.until('ends or waits', () => task.state !== 'running' || this.open.get(session)?.isWaiting === true);
        results.push(task.state === 'running' ? 'waits' : (task.value as OperationResult));
        if (task.state === 'running') waiting.push({ index, task });
        for (const other of waiting)
          await this.scheduler.until(
            'ends or is blocked',
            () => other.task.state !== 'running' || this.isBlocked(history[other.index]?.[0]),
          );
      }
      for (const { index, task } of waiting)
        if (task.state !== 'running') resultsAfterWait[index] = task.value as OperationResult;
      for (const tx of this.db.open) tx.rollback();
    });
    await this.scheduler.run();
    const rows = Object.fromEntries([...this.db.cells(cells)].flatMap(({ id }) => this.valueOf(id)));
    return { results, resultsAfterWait, rows };
  }

  private valueOf(id: string): [string, number][] {
    const row = this.db.read(cells, id);
    return row ? [[id, row.value]] : [];
  }

  private isBlocked(session: Session | undefined): boolean {
    return session !== undefined && this.open.get(session)?.isBlocked === true;
  }

  private async perform(session: Session, operation: Operation): Promise<OperationResult> {
    try {
      if (operation.do === 'begin') {
        this.open.set(session, this.db.begin(operation.isolation));
        return 'ok';
      }
      const tx = this.open.get(session);
      if (!tx) throw new Error(`${session} has not begun`);
      return await this.runStatement(tx, operation);
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      this.open.get(session)?.rollback();
      return error.code;
    }
  }

  private async runStatement(tx: SimulatedTransaction, operation: Exclude<Operation, { do: 'begin' }>): Promise<OperationResult> {
    if (operation.do === 'rollback') {
      tx.rollback();
      return 'ok';
    }
    if (operation.do === 'commit') return tx.commit().then(() => 'ok');
    await tx.nextStatement(operation.do);
    if (!('row' in operation)) return tx.find(cells, () => true).reduce((sum, { value }) => sum + value, 0);
    const { row } = operation;
    if (operation.do === 'get') return tx.get(cells, row)?.value ?? null;
    if (operation.do === 'insert') return tx.insert(cells, row, { value: 0 });
    if (operation.do === 'set') return tx.change(cells, row, { value: operation.to }).then(() => 'ok');
    const found = operation.do === 'lock' ? await tx.lock(cells, row) : await tx.lockOrSkip(cells, row);
    return found === 'locked' ? 'locked' : (found?.value ?? null);
  }
}

databaseSemanticsContract(() => Promise.resolve(new SimulatedPlayer()));

test('a task that crashes before its commit has no effect; a crash after the commit leaves the full effect; in both cases the locks are released', async () => {
  const values = new Set<number | undefined>();
  for (let seed = 1; seed <= 60; seed += 1) {
    const scheduler = new Scheduler(seed);
    const db = new SimulatedDatabase(scheduler, ALL_PROTECTIONS);
    db.seed(cells, 'x', { value: 10 });
    const process = { name: 'p', frozenUntil: 0, steps: 0 };
    const task = scheduler.spawn('writer', process, async () => {
      const tx = db.begin();
      await tx.statement('writes');
      await tx.change(cells, 'x', { value: 11 });
      await tx.commit();
    });
    scheduler.spawn('crash', undefined, async () => {
      await scheduler.step('waits');
      await scheduler.step('waits again');
      scheduler.crash(process);
    });
    await scheduler.run();
    const value = db.read(cells, 'x')?.value;
    values.add(task.state === 'crashed' ? value : undefined);
    expect([value, db.open.size, db.cell(cells, 'x').lockedBy]).toEqual([db.commits > 0 ? 11 : 10, 0, undefined]);
  }
  expect(values).toEqual(new Set([10, 11, undefined]));
});
