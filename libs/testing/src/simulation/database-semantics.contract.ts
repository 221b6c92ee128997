/**
 * Contract of the simulated database for concurrent transactions. Each history is a sequence of operations with their expected
 * results. PostgreSQL must give the same results; otherwise the simulation would prove nothing.
 */

/** A database connection of a history. Each has at most one open transaction. */
export type Session = 'A' | 'B' | 'C';
/** One statement of a history. */
export type Operation =
  | { readonly do: 'begin'; readonly isolation?: 'read committed' }
  | { readonly do: 'get' | 'lock' | 'lock unless locked'; readonly row: string }
  | { readonly do: 'set'; readonly row: string; readonly to: number }
  /** Inserts a row with `insert … on conflict do nothing`. */
  | { readonly do: 'insert'; readonly row: string }
  | { readonly do: 'sum' | 'commit' | 'rollback' };

/** The result of an operation: a value, 'locked', a SQLSTATE or 'ok'; 'waits' while the operation waits for a lock. */
export type OperationResult = number | string | boolean | null;

/** Runs a history on a database: on PostgreSQL or on the simulated database. */
export interface HistoryPlayer {
  /**
   * Starts with the rows x, y and z, each with the value 10. Runs the operations one after the other. When an operation waits for a
   * lock, the next operation starts nevertheless.
   */
  play(history: readonly (readonly [Session, Operation])[]): Promise<{
    /** The first result of each operation. */
    readonly results: readonly OperationResult[];
    /** By index of the operation: the final result of each operation that waited for a lock. */
    readonly resultsAfterWait: Readonly<Record<number, OperationResult>>;
    readonly rows: Readonly<Record<string, number>>;
  }>;
}

type Line = readonly [session: Session, operation: Operation, result: OperationResult];

const begin = (session: Session): Line => [session, { do: 'begin' }, 'ok'];
const beginReadCommitted = (session: Session): Line => [session, { do: 'begin', isolation: 'read committed' }, 'ok'];
const get = (session: Session, row: string, result: OperationResult): Line => [session, { do: 'get', row }, result];
const lock = (session: Session, row: string, result: OperationResult): Line => [session, { do: 'lock', row }, result];
const skip = (session: Session, row: string, result: OperationResult): Line => [
  session,
  { do: 'lock unless locked', row },
  result,
];
const set = (session: Session, row: string, to: number, result: OperationResult = 'ok'): Line => [
  session,
  { do: 'set', row, to },
  result,
];
const insert = (session: Session, row: string, result: OperationResult): Line => [session, { do: 'insert', row }, result];
const sum = (session: Session, result: OperationResult): Line => [session, { do: 'sum' }, result];
const commit = (session: Session, result: OperationResult = 'ok'): Line => [session, { do: 'commit' }, result];
const rollback = (session: Session): Line => [session, { do: 'rollback' }, 'ok'];
const both = [begin('A'), begin('B')];

interface History {
  readonly name: string;
  readonly lines: readonly Line[];
  /** By index of the operation: the final result of each operation that waited for a lock. */
  readonly resultsAfterWait?: Readonly<Record<number, OperationResult>>;
  readonly rows: Readonly<Record<string, number>>;
}

const unchanged = { x: 10, y: 10, z: 10 };

const histories: History[] = [
  {
    name: 'an update of a row that changed after the snapshot fails with 40001',
    lines: [
      ...both,
      get('A', 'x', 10),
      get('B', 'x', 10),
      set('B', 'x', 11),
      commit('B'),
      set('A', 'x', 12, '40001'),
      rollback('A'),
    ],
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'a transaction that waited for a lock fails with 40001 if the row was changed meanwhile',
    lines: [
      ...both,
      get('B', 'y', 10),
      lock('A', 'x', 10),
      lock('B', 'x', 'waits'),
      set('A', 'x', 11),
      commit('A'),
      rollback('B'),
    ],
    resultsAfterWait: { 4: '40001' },
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'a transaction that waited for a lock gets the lock if the row was not changed',
    lines: [...both, lock('A', 'x', 10), lock('B', 'x', 'waits'), commit('A'), set('B', 'x', 12), commit('B')],
    resultsAfterWait: { 3: 10 },
    rows: { ...unchanged, x: 12 },
  },
  {
    name: 'READ COMMITTED: after waiting for a lock the row is read again',
    lines: [begin('A'), beginReadCommitted('B'), set('A', 'x', 11), lock('B', 'x', 'waits'), commit('A'), commit('B')],
    resultsAfterWait: { 3: 11 },
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'READ COMMITTED: each statement sees what was committed before it',
    lines: [
      begin('A'),
      beginReadCommitted('B'),
      get('B', 'x', 10),
      set('A', 'x', 11),
      commit('A'),
      get('B', 'x', 11),
      commit('B'),
    ],
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'skip locked: a locked row is skipped, a free row is locked',
    lines: [...both, lock('A', 'x', 10), skip('B', 'x', 'locked'), skip('B', 'y', 10), commit('A'), commit('B')],
    rows: unchanged,
  },
  {
    name: 'skip locked: an unlocked row that was changed after the snapshot still fails with 40001',
    lines: [...both, get('B', 'y', 10), set('A', 'x', 11), commit('A'), skip('B', 'x', '40001'), rollback('B')],
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'the snapshot is taken by the first statement, not by BEGIN, and does not change later',
    lines: [
      ...both,
      set('A', 'x', 11),
      commit('A'),
      get('B', 'x', 11),
      begin('A'),
      set('A', 'x', 12),
      commit('A'),
      get('B', 'x', 11),
      commit('B'),
    ],
    rows: { ...unchanged, x: 12 },
  },
  {
    name: 'write skew: when each of two transactions reads a row that the other transaction changes, one of the two fails with 40001',
    lines: [...both, sum('A', 30), sum('B', 30), set('A', 'x', 0), set('B', 'y', 0), commit('A'), commit('B', '40001')],
    rows: { ...unchanged, x: 0 },
  },
  {
    name: 'write skew: when each of two transactions inserts a row into the range that the other transaction has read, one of the two fails with 40001',
    lines: [
      ...both,
      sum('A', 30),
      sum('B', 30),
      insert('A', 'v', true),
      insert('B', 'w', true),
      commit('A'),
      commit('B', '40001'),
    ],
    rows: { ...unchanged, v: 0 },
  },
  {
    name: 'when only one of two transactions reads a row that the other transaction changes, each of the two commits',
    lines: [...both, get('A', 'x', 10), set('B', 'x', 11), commit('B'), set('A', 'y', 12), commit('A')],
    rows: { ...unchanged, x: 11, y: 12 },
  },
  {
    name: 'an insert waits for an uncommitted insert of the same id, and fails with 40001 if the earlier insert commits',
    lines: [...both, get('B', 'y', 10), insert('A', 'v', true), insert('B', 'v', 'waits'), commit('A'), rollback('B')],
    resultsAfterWait: { 4: '40001' },
    rows: { ...unchanged, v: 0 },
  },
  {
    name: 'an insert waits for an uncommitted insert of the same id, and succeeds if the earlier insert is rolled back',
    lines: [...both, insert('A', 'v', true), insert('B', 'v', 'waits'), rollback('A'), commit('B')],
    resultsAfterWait: { 3: true },
    rows: { ...unchanged, v: 0 },
  },
  {
    name: 'an insert of an existing id does nothing',
    lines: [begin('A'), insert('A', 'x', false), commit('A')],
    rows: unchanged,
  },
  {
    name: 'changes that are rolled back are not visible to later transactions',
    lines: [begin('A'), set('A', 'x', 11), get('A', 'x', 11), rollback('A'), begin('B'), get('B', 'x', 10), commit('B')],
    rows: unchanged,
  },
];

/** Registers the tests of the contract for the database that `open` gives. */
export function databaseSemanticsContract(open: () => Promise<HistoryPlayer>): void {
  test.each(histories)(
    'concurrent transactions behave like in PostgreSQL: $name',
    async ({ lines, resultsAfterWait = {}, rows }) => {
      const player = await open();
      const outcome = await player.play(lines.map(([session, operation]) => [session, operation] as const));
      expect(outcome).toEqual({ results: lines.map(([, , result]) => result), resultsAfterWait, rows });
    },
  );

  test('when three transactions each read a row that the next one in a cycle changes, exactly one fails with 40001', async () => {
    const reads = [get('A', 'x', 10), get('B', 'y', 10), get('C', 'z', 10)];
    const writes = [set('C', 'y', 11), commit('C'), set('B', 'x', 12), set('A', 'z', 13), commit('A'), commit('B')];
    const player = await open();
    const lines = [...both, begin('C'), ...reads, ...writes];
    const { results, rows } = await player.play(lines.map(([session, operation]) => [session, operation] as const));
    // PostgreSQL finds the conflict when B writes, the simulation when B commits.
    expect([results.filter((result) => result === '40001').length, rows]).toEqual([1, { ...unchanged, y: 11, z: 13 }]);
  });

  test('deadlock: of two transactions that wait for locks of each other, one fails with 40P01', async () => {
    const lines = [...both, lock('A', 'x', 10), lock('B', 'y', 10), lock('A', 'y', 'waits'), lock('B', 'x', 'waits')];
    const player = await open();
    const { resultsAfterWait, results } = await player.play(lines.map(([session, operation]) => [session, operation] as const));
    // PostgreSQL finds the deadlock after one second, in the transaction that has waited for a second. The simulation finds it at
    // once, in the transaction that starts to wait last.
    expect([...results, ...Object.values(resultsAfterWait)]).toContain('40P01');
  });
}
