import { Transaction } from '#application/transaction-manager';
import type { Scheduler, Task } from './scheduler.ts';
import { isDangerous, type Footprint } from './serializable-conflicts.ts';

/*
 * Simulates in memory the parts of PostgreSQL that a purchase depends on: row versions and snapshots; row locks with wait, skip
 * and timeout; deadlock detection; serialization failures (40001) for concurrent updates and for SERIALIZABLE conflicts;
 * `now()` as the start of the transaction. A unique index is simulated as a table of its own, whose row ids are the indexed values.
 */

/** An error of the simulated server. `code` is the SQLSTATE. */
export class SqlError extends Error {
  constructor(
    readonly code: '40001' | '40P01' | '55P03' | '23505',
    message: string,
  ) {
    super(message);
  }
}

/** A table of the simulated database: its name and, as a type, the shape of its rows. */
export class Table<R extends object> {
  declare readonly shape: R;
  constructor(readonly name: string) {}
}

/** A committed version of a row. `row` is undefined after a delete. */
interface Version {
  readonly seq: number;
  readonly row: object | undefined;
}

/** One row with all its versions and its lock. */
export interface Cell {
  readonly table: string;
  readonly id: string;
  readonly versions: Version[];
  lockedBy: SimulatedTransaction | undefined;
}

/** The protections of the database that a negative control (a test that must fail without them) switches off. */
export interface Strictness {
  /** If false, transactions do not wait for row locks, and the last writer wins. */
  readonly locks: boolean;
  /** If false, transactions run at REPEATABLE READ instead of SERIALIZABLE. */
  readonly serializable: boolean;
  /** If false, a batch waits for rows that another transaction has locked. */
  readonly skipsLocked: boolean;
  /** The share of commits that fail without a conflict, as if a transaction outside of the simulation had caused one. */
  readonly spuriousFailures: number;
}

/** The isolation level of a simulated transaction. */
export type Isolation = 'serializable' | 'read committed';

const LOCK_TIMEOUT_MS = 8000;

/** The simulated database: its tables, its open transactions and the number of its last commit (`seq`). */
export class SimulatedDatabase {
  seq = 0;
  commits = 0;
  refusals = 0;
  /** Functions to call when a commit has become visible. */
  readonly committed: ((tx: SimulatedTransaction) => void)[] = [];
  /** Functions to call when a transaction starts to wait for a row lock. */
  readonly waited: ((tx: SimulatedTransaction, cell: Cell) => void)[] = [];
  readonly open = new Set<SimulatedTransaction>();
  private readonly tables = new Map<string, Map<string, Cell>>();
  private finished: Footprint[] = [];
  private transactions = 0;

  constructor(
    readonly scheduler: Scheduler,
    readonly strictness: Strictness,
  ) {
    scheduler.crashed.push((task) => this.abandon(task));
  }

  begin(isolation: Isolation = 'serializable'): SimulatedTransaction {
    this.transactions += 1;
    const tx = new SimulatedTransaction(this, `tx${this.transactions}`, isolation, this.scheduler.current);
    this.open.add(tx);
    return tx;
  }

  /** Reads the last committed version, without a lock or a transaction. */
  read<R extends object>(table: Table<R>, id: string): R | undefined {
    return this.tables.get(table.name)?.get(id)?.versions.at(-1)?.row as R | undefined;
  }

  rows<R extends object>(table: Table<R>, matches: (row: R) => boolean = () => true): R[] {
    const found: R[] = [];
    for (const { versions } of this.tables.get(table.name)?.values() ?? []) {
      const row = versions.at(-1)?.row as R | undefined;
      if (row && matches(row)) found.push(row);
    }
    return found;
  }

  /** Adds a row before the simulation starts, without a transaction. */
  seed<R extends object>(table: Table<R>, id: string, row: R): void {
    this.cell(table, id).versions.push({ seq: this.seq, row });
  }

  cell(table: Table<object>, id: string): Cell {
    let cells = this.tables.get(table.name);
    if (!cells) this.tables.set(table.name, (cells = new Map()));
    let cell = cells.get(id);
    if (!cell) cells.set(id, (cell = { table: table.name, id, versions: [], lockedBy: undefined }));
    return cell;
  }

  cells(table: Table<object>): Iterable<Cell> {
    return this.tables.get(table.name)?.values() ?? [];
  }

  /**
   * Makes the writes of the transaction visible, all at once. Throws 40001 and changes nothing if the result would not be
   * serializable.
   */
  install(tx: SimulatedTransaction): void {
    const { footprint } = tx;
    if (tx.isolation === 'serializable' && this.strictness.serializable && this.strictness.locks) {
      const active = [...this.open].filter((other) => other !== tx && other.isolation === 'serializable');
      if (
        isDangerous(
          footprint,
          this.finished,
          active.map((other) => other.footprint),
        )
      )
        throw new SqlError('40001', 'could not serialize access due to read/write dependencies among transactions');
      if (footprint.writes.size > 0 && this.scheduler.random.chance(this.strictness.spuriousFailures))
        throw new SqlError('40001', 'could not serialize access (injected by the simulation)');
    }
    this.seq += 1;
    footprint.commitSeq = this.seq;
    for (const [cell, { after }] of footprint.writes) cell.versions.push({ seq: this.seq, row: after });
    if (tx.isolation === 'serializable') this.finished.push(footprint);
    this.end(tx);
    const oldest = Math.min(...[...this.open].map(({ snapshot }) => snapshot));
    this.finished = this.finished.filter(({ commitSeq }) => commitSeq > oldest);
    this.commits += 1;
    for (const notify of this.committed) notify(tx);
  }

  end(tx: SimulatedTransaction): void {
    this.open.delete(tx);
    for (const cell of tx.locks) cell.lockedBy = undefined;
    tx.locks.clear();
  }

  private abandon(task: Task): void {
    for (const tx of this.open) if (tx.owner === task) this.end(tx);
  }
}

/** One transaction of the simulated database, with its snapshot, its row locks and its uncommitted writes. */
export class SimulatedTransaction extends Transaction {
  readonly now: Date;
  readonly locks = new Set<Cell>();
  readonly footprint: Footprint;
  /** True if several commands share this transaction. */
  isShared = false;
  private waitsFor: Cell | undefined;
  private hasSnapshot = false;

  constructor(
    private readonly db: SimulatedDatabase,
    readonly id: string,
    readonly isolation: Isolation,
    readonly owner: Task | undefined,
  ) {
    super();
    this.now = db.scheduler.now();
    this.footprint = { snapshot: db.seq, commitSeq: Number.POSITIVE_INFINITY, reads: new Set(), scans: [], writes: new Map() };
  }

  get snapshot(): number {
    return this.footprint.snapshot;
  }

  get isWaiting(): boolean {
    return this.waitsFor !== undefined;
  }

  /** True while another transaction holds the lock that this transaction waits for. */
  get isBlocked(): boolean {
    return this.waitsFor?.lockedBy !== undefined;
  }

  /** Takes the snapshot, when the first statement runs. `now()` is older: it is the time of BEGIN. */
  takeSnapshot(): void {
    if (!this.hasSnapshot) this.footprint.snapshot = this.db.seq;
    this.hasSnapshot = true;
  }

  /** Starts a statement. Other tasks may run before the statement reaches the simulated server. */
  async statement(what: string): Promise<void> {
    await this.db.scheduler.step(what);
    if (!this.db.open.has(this)) throw new Error(`${this.id} has ended, but a statement follows: ${what}`);
    this.takeSnapshot();
  }

  /** Starts a further statement of the transaction. At READ COMMITTED each statement takes a new snapshot. */
  async nextStatement(what: string): Promise<void> {
    if (this.isolation === 'read committed') this.hasSnapshot = false;
    await this.statement(what);
  }

  get<R extends object>(table: Table<R>, id: string): R | undefined {
    const cell = this.db.cell(table, id);
    this.footprint.reads.add(cell);
    return this.visible(cell) as R | undefined;
  }

  find<R extends object>(table: Table<R>, matches: (row: R) => boolean): R[] {
    this.footprint.scans.push({ table: table.name, matches: matches as (row: object) => boolean });
    const rows: R[] = [];
    for (const cell of this.db.cells(table)) {
      const row = this.visible(cell) as R | undefined;
      if (row && matches(row)) rows.push(row);
    }
    return rows;
  }

  /** The newest committed version of a row, not the version of the snapshot: READ COMMITTED reads a row again after locking it. */
  latest<R extends object>(table: Table<R>, id: string): R | undefined {
    const own = this.footprint.writes.get(this.db.cell(table, id));
    return own ? (own.after as R | undefined) : this.db.read(table, id);
  }

  /** Locks a row, like `for update`: waits while another transaction holds the lock. */
  async lock<R extends object>(table: Table<R>, id: string): Promise<R | undefined> {
    const cell = this.db.cell(table, id);
    await this.acquire(cell);
    return this.isolation === 'serializable' ? this.get(table, id) : this.latest(table, id);
  }

  /** Locks a row, like `for update skip locked`: returns 'locked' if another transaction holds the lock. */
  async lockOrSkip<R extends object>(table: Table<R>, id: string): Promise<R | 'locked' | undefined> {
    const cell = this.db.cell(table, id);
    if (this.db.strictness.locks && cell.lockedBy && cell.lockedBy !== this) return 'locked';
    return this.lock(table, id);
  }

  /**
   * Locks the rows that match and that no other transaction has locked, like `where … for update skip locked` for a batch of ids.
   */
  async lockFree<R extends object>(
    table: Table<R>,
    ids: readonly string[],
    matches: (row: R) => boolean = () => true,
  ): Promise<Map<string, R>> {
    const free = new Map<string, R>();
    for (const [index, id] of [...new Set(ids)].entries()) {
      if (index > 0) await this.statement(`goes on to ${table.name} ${id}`);
      const seen = this.get(table, id);
      if (!seen || !matches(seen)) continue;
      const row = await (this.db.strictness.skipsLocked ? this.lockOrSkip(table, id) : this.lock(table, id));
      if (row && row !== 'locked') free.set(id, row);
    }
    return free;
  }

  async put<R extends object>(table: Table<R>, id: string, row: R | undefined): Promise<void> {
    const cell = this.db.cell(table, id);
    await this.acquire(cell);
    const { writes } = this.footprint;
    writes.set(cell, { before: writes.get(cell)?.before ?? this.visible(cell), after: row });
  }

  async change<R extends object>(table: Table<R>, id: string, change: Partial<R>): Promise<void> {
    const row = await this.lock(table, id);
    if (row) await this.put(table, id, { ...row, ...change });
  }

  /** Inserts a row, like `insert … on conflict do nothing`: false if a row with this id exists. */
  async insert<R extends object>(table: Table<R>, id: string, row: R): Promise<boolean> {
    await this.acquire(this.db.cell(table, id));
    if ((this.isolation === 'serializable' ? this.get(table, id) : this.latest(table, id)) !== undefined) return false;
    await this.put(table, id, row);
    return true;
  }

  async insertNew<R extends object>(table: Table<R>, id: string, row: R): Promise<void> {
    if (!(await this.insert(table, id, row)))
      throw new SqlError('23505', `duplicate key value violates unique constraint: ${table.name} ${id}`);
  }

  /**
   * Commits. Other tasks may run, or the process may crash, at two points: before the commit takes effect, and before the caller
   * learns of it.
   */
  async commit(): Promise<void> {
    await this.db.scheduler.step(`${this.id} commits`);
    this.db.install(this);
    await this.db.scheduler.step(`${this.id} has committed`);
  }

  rollback(): void {
    this.db.end(this);
  }

  private visible(cell: Cell): object | undefined {
    const own = this.footprint.writes.get(cell);
    if (own) return own.after;
    const { versions } = cell;
    for (let index = versions.length - 1; index >= 0; index -= 1) {
      const version = versions[index];
      if (version && version.seq <= this.snapshot) return version.row;
    }
    return undefined;
  }

  private async acquire(cell: Cell): Promise<void> {
    if (!this.db.strictness.locks) return;
    while (cell.lockedBy && cell.lockedBy !== this) await this.wait(cell);
    if (this.isolation === 'serializable' && (cell.versions.at(-1)?.seq ?? 0) > this.snapshot) {
      this.db.refusals += 1;
      throw new SqlError('40001', `could not serialize access due to concurrent update of ${cell.table} ${cell.id}`);
    }
    cell.lockedBy = this;
    this.locks.add(cell);
  }

  private async wait(cell: Cell): Promise<void> {
    const seen = new Set<SimulatedTransaction>();
    for (let other = cell.lockedBy; other && !seen.has(other); other = other.waitsFor?.lockedBy) {
      if (other === this) throw new SqlError('40P01', 'deadlock detected');
      seen.add(other);
    }
    const { scheduler } = this.db;
    const deadline = scheduler.nowMs + LOCK_TIMEOUT_MS;
    this.waitsFor = cell;
    for (const notify of this.db.waited) notify(this, cell);
    await scheduler.until(`waits for ${cell.table} ${cell.id}`, () => cell.lockedBy === undefined, deadline);
    this.waitsFor = undefined;
    if (cell.lockedBy && scheduler.nowMs >= deadline) throw new SqlError('55P03', 'canceling statement due to lock timeout');
  }
}
