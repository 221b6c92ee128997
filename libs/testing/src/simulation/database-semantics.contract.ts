/**
 * What the simulated database promises about concurrent transactions, told as histories; the real one must tell them the same
 * way, or the simulation proves nothing.
 */

export type Session = 'A' | 'B' | 'C';
export type Operation =
  | { readonly do: 'begin'; readonly isolation?: 'read committed' }
  | { readonly do: 'get' | 'lock' | 'lock unless locked'; readonly row: string }
  | { readonly do: 'set'; readonly row: string; readonly to: number }
  /** On conflict do nothing. */
  | { readonly do: 'insert'; readonly row: string }
  | { readonly do: 'sum' | 'commit' | 'rollback' };

/** A value, `locked`, a SQLSTATE, `ok`; `waits` when it has no answer yet. */
export type Told = number | string | boolean | null;

export interface HistoryPlayer {
  /** Rows x, y and z are there, each 10. Plays one operation after the other, the next one also when one waits. */
  play(history: readonly (readonly [Session, Operation])[]): Promise<{
    /** What each operation said at first, and, if it waited, in the end. */
    readonly told: readonly Told[];
    readonly later: Readonly<Record<number, Told>>;
    readonly rows: Readonly<Record<string, number>>;
  }>;
}

type Line = readonly [session: Session, operation: Operation, told: Told];

const begin = (session: Session): Line => [session, { do: 'begin' }, 'ok'];
const beginLoose = (session: Session): Line => [session, { do: 'begin', isolation: 'read committed' }, 'ok'];
const get = (session: Session, row: string, told: Told): Line => [session, { do: 'get', row }, told];
const lock = (session: Session, row: string, told: Told): Line => [session, { do: 'lock', row }, told];
const skip = (session: Session, row: string, told: Told): Line => [session, { do: 'lock unless locked', row }, told];
const set = (session: Session, row: string, to: number, told: Told = 'ok'): Line => [session, { do: 'set', row, to }, told];
const insert = (session: Session, row: string, told: Told): Line => [session, { do: 'insert', row }, told];
const sum = (session: Session, told: Told): Line => [session, { do: 'sum' }, told];
const commit = (session: Session, told: Told = 'ok'): Line => [session, { do: 'commit' }, told];
const rollback = (session: Session): Line => [session, { do: 'rollback' }, 'ok'];
const both = [begin('A'), begin('B')];

interface History {
  readonly name: string;
  readonly lines: readonly Line[];
  /** By the number of the operation that waited. */
  readonly later?: Readonly<Record<number, Told>>;
  readonly rows: Readonly<Record<string, number>>;
}

const unchanged = { x: 10, y: 10, z: 10 };

const histories: History[] = [
  {
    name: 'who changes a row that somebody changed since the snapshot starts anew',
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
    name: 'a lock is waited for; what was changed under it is news, and the waiter starts anew',
    lines: [
      ...both,
      get('B', 'y', 10),
      lock('A', 'x', 10),
      lock('B', 'x', 'waits'),
      set('A', 'x', 11),
      commit('A'),
      rollback('B'),
    ],
    later: { 4: '40001' },
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'a lock under which nothing was changed is passed on',
    lines: [...both, lock('A', 'x', 10), lock('B', 'x', 'waits'), commit('A'), set('B', 'x', 12), commit('B')],
    later: { 3: 10 },
    rows: { ...unchanged, x: 12 },
  },
  {
    name: 'at READ COMMITTED the row that was waited for is looked at again',
    lines: [begin('A'), beginLoose('B'), set('A', 'x', 11), lock('B', 'x', 'waits'), commit('A'), commit('B')],
    later: { 3: 11 },
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'at READ COMMITTED the next statement sees what was committed since the one before',
    lines: [begin('A'), beginLoose('B'), get('B', 'x', 10), set('A', 'x', 11), commit('A'), get('B', 'x', 11), commit('B')],
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'a locked row is skipped, others are not',
    lines: [...both, lock('A', 'x', 10), skip('B', 'x', 'locked'), skip('B', 'y', 10), commit('A'), commit('B')],
    rows: unchanged,
  },
  {
    name: 'skipping does not help against a row that was changed since the snapshot',
    lines: [...both, get('B', 'y', 10), set('A', 'x', 11), commit('A'), skip('B', 'x', '40001'), rollback('B')],
    rows: { ...unchanged, x: 11 },
  },
  {
    name: 'a snapshot is of the first statement, and stays',
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
    name: 'write skew: each saw the other as it was before, so one starts anew',
    lines: [...both, sum('A', 30), sum('B', 30), set('A', 'x', 0), set('B', 'y', 0), commit('A'), commit('B', '40001')],
    rows: { ...unchanged, x: 0 },
  },
  {
    name: 'a row that appears where somebody has looked is write skew, too',
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
    name: 'to have seen what somebody else changes is no harm alone: there is an order',
    lines: [...both, get('A', 'x', 10), set('B', 'x', 11), commit('B'), set('A', 'y', 12), commit('A')],
    rows: { ...unchanged, x: 11, y: 12 },
  },
  {
    name: 'one of two inserts waits, and starts anew when the other is committed',
    lines: [...both, get('B', 'y', 10), insert('A', 'v', true), insert('B', 'v', 'waits'), commit('A'), rollback('B')],
    later: { 4: '40001' },
    rows: { ...unchanged, v: 0 },
  },
  {
    name: 'and inserts when the other is taken back',
    lines: [...both, insert('A', 'v', true), insert('B', 'v', 'waits'), rollback('A'), commit('B')],
    later: { 3: true },
    rows: { ...unchanged, v: 0 },
  },
  {
    name: 'what was there already is no insert',
    lines: [begin('A'), insert('A', 'x', false), commit('A')],
    rows: unchanged,
  },
  {
    name: 'what is rolled back was never there',
    lines: [begin('A'), set('A', 'x', 11), get('A', 'x', 11), rollback('A'), begin('B'), get('B', 'x', 10), commit('B')],
    rows: unchanged,
  },
];

export function itTellsTheSameHistories(open: () => Promise<HistoryPlayer>): void {
  test.each(histories)('$name', async ({ lines, later = {}, rows }) => {
    const player = await open();
    const outcome = await player.play(lines.map(([session, operation]) => [session, operation] as const));
    expect(outcome).toEqual({ told: lines.map(([, , told]) => told), later, rows });
  });

  test('three in a row: the one in the middle starts anew', async () => {
    const reads = [get('A', 'x', 10), get('B', 'y', 10), get('C', 'z', 10)];
    const writes = [set('C', 'y', 11), commit('C'), set('B', 'x', 12), set('A', 'z', 13), commit('A'), commit('B')];
    const player = await open();
    const lines = [...both, begin('C'), ...reads, ...writes];
    const { told, rows } = await player.play(lines.map(([session, operation]) => [session, operation] as const));
    // The server sees it coming when B writes, the simulation when it commits.
    expect([told.filter((one) => one === '40001').length, rows]).toEqual([1, { ...unchanged, y: 11, z: 13 }]);
  });

  test('two that wait for each other: one of them starts anew', async () => {
    const lines = [...both, lock('A', 'x', 10), lock('B', 'y', 10), lock('A', 'y', 'waits'), lock('B', 'x', 'waits')];
    const player = await open();
    const { later, told } = await player.play(lines.map(([session, operation]) => [session, operation] as const));
    // The server finds it after a second, and by whoever has waited that long; the simulation at once, by whoever came last.
    expect([...told, ...Object.values(later)]).toContain('40P01');
  });
}
