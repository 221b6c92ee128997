import { Event, type Source } from '../core/event.ts';
import type { Batch, EventStore } from '../core/ports.ts';
import { sourceNamed } from './sources.ts';

/** A store under test, and a way to read what it has stored. */
export interface StoreSetup {
  readonly store: EventStore;
  /** Ids of the stored events, ascending. */
  storedOf(source: Source): Promise<string[]>;
  /** Codes of the quarantined events. */
  quarantinedOf(source: Source): Promise<string[]>;
}

const event = (id: number, payload: Record<string, unknown> = { n: id }): Event => new Event(String(id), payload);

function batch(source: Source, change: Partial<Batch>): Batch {
  const empty = {
    from: undefined,
    to: undefined,
    lockNumber: 1,
    events: [],
    unrequested: [],
    bad: [],
    duplicates: 0,
    gaps: 0,
    isCaughtUp: true,
  };
  return { source, ...empty, ...change };
}

/** The tests that every EventStore must pass. */
export function eventStoreContract(setup: () => StoreSetup): void {
  let names = 0;
  const nextSource = () => sourceNamed(`stored-${(names += 1)}`);

  test('appending a batch stores its events and the cursor', async () => {
    const { store, storedOf } = setup();
    const source = nextSource();
    expect(await store.lastKnownId(source)).toBeUndefined();
    const appended = await store.append(batch(source, { to: '3', events: [event(1), event(3)] }));
    expect(appended).toEqual({ kind: 'appended', stored: 2, refused: 0, quarantined: 0 });
    expect(await store.lastKnownId(source)).toBe('3');
    expect(await storedOf(source)).toEqual(['1', '3']);
  });

  test('a batch whose cursor is no longer current is stale and changes nothing', async () => {
    const { store, storedOf } = setup();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '2', events: [event(1), event(2)] }));
    expect(await store.append(batch(source, { to: '4', lockNumber: 2, events: [event(3), event(4)] }))).toEqual({
      kind: 'stale',
    });
    expect(await store.lastKnownId(source)).toBe('2');
    expect(await storedOf(source)).toEqual(['1', '2']);
  });

  test('a batch with a lower lock number than the last one is stale and changes nothing, even if its cursor is current', async () => {
    const { store, storedOf } = setup();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '1', lockNumber: 9, events: [event(1)] }));
    expect(await store.append(batch(source, { from: '1', to: '2', lockNumber: 8, events: [event(2)] }))).toEqual({
      kind: 'stale',
    });
    expect(await storedOf(source)).toEqual(['1']);
  });

  test('of eight simultaneous appends of the same batch exactly one succeeds', async () => {
    const { store, storedOf } = setup();
    const source = nextSource();
    await store.lastKnownId(source);
    const events = Array.from({ length: 50 }, (_, index) => event(index + 1));
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.append(batch(source, { to: '50', lockNumber: index + 1, events }))),
    );
    expect(results.filter(({ kind }) => kind === 'appended')).toHaveLength(1);
    expect(await storedOf(source)).toHaveLength(50);
  });

  test('of a batch with known and new events, the known ones are refused and counted, the new ones are stored', async () => {
    const { store, storedOf } = setup();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '5', events: [event(3), event(5)] }));
    const again = batch(source, {
      from: '5',
      to: '6',
      lockNumber: 2,
      events: [event(3), event(4), event(5), event(6)],
      duplicates: 2,
    });
    expect(await store.append(again)).toEqual({ kind: 'appended', stored: 2, refused: 4, quarantined: 0 });
    expect(await storedOf(source)).toEqual(['3', '4', '5', '6']);
  });

  test('an event with a known id but another content is quarantined, the other events are stored, and the cursor moves', async () => {
    const { store, storedOf, quarantinedOf } = setup();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '1', events: [event(1)] }));
    const changed = batch(source, { from: '1', to: '2', lockNumber: 2, events: [event(1, { n: 'other' }), event(2)] });
    expect(await store.append(changed)).toEqual({ kind: 'appended', stored: 1, refused: 0, quarantined: 1 });
    expect(await quarantinedOf(source)).toEqual(['EVENT_IMMUTABILITY_VIOLATION']);
    expect(await storedOf(source)).toEqual(['1', '2']);
    expect(await store.lastKnownId(source)).toBe('2');
  });

  test('unrequested events are compared with the stored ones and never stored', async () => {
    const { store, storedOf, quarantinedOf } = setup();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '5', events: [event(2), event(5)] }));
    const unrequested = [event(1), event(2), event(5, { n: 'other' })];
    const appended = await store.append(batch(source, { from: '5', to: '6', lockNumber: 2, events: [event(6)], unrequested }));
    expect(appended).toEqual({ kind: 'appended', stored: 1, refused: 1, quarantined: 1 });
    expect(await storedOf(source)).toEqual(['2', '5', '6']);
    expect(await quarantinedOf(source)).toEqual(['EVENT_IMMUTABILITY_VIOLATION']);
  });

  test('a bad event that comes again is quarantined only once', async () => {
    const { store, quarantinedOf } = setup();
    const source = nextSource();
    await store.lastKnownId(source);
    const bad = [{ id: '1', code: 'EVENT_INVALID' as const, detail: 'no payload', content: '{"id":1}' }];
    expect(await store.append(batch(source, { to: '1', bad }))).toMatchObject({ quarantined: 1 });
    expect(await store.append(batch(source, { from: '1', to: '1', lockNumber: 2, bad }))).toMatchObject({ quarantined: 0 });
    expect(await quarantinedOf(source)).toEqual(['EVENT_INVALID']);
  });
}
