import { Event, type Source } from '../core/event.ts';
import type { Batch, EventStore } from '../core/ports.ts';
import { sourceNamed } from './sources.ts';

export interface StoreSetup {
  readonly store: EventStore;
  /** Ids of what is stored, ascending. */
  storedOf(source: Source): Promise<string[]>;
  /** Codes of what is quarantined. */
  quarantinedOf(source: Source): Promise<string[]>;
}

const event = (id: number, payload: Record<string, unknown> = { n: id }): Event => new Event(String(id), payload);

function batch(source: Source, change: Partial<Batch>): Batch {
  const empty = { from: undefined, to: undefined, fence: 1, events: [], unasked: [], bad: [], repeated: 0, gaps: 0, isAll: true };
  return { source, ...empty, ...change };
}

/** What every EventStore promises. */
export function eventStoreContract(ground: () => StoreSetup): void {
  let names = 0;
  const nextSource = () => sourceNamed(`stored-${(names += 1)}`);

  test('events and cursor are there together', async () => {
    const { store, storedOf } = ground();
    const source = nextSource();
    expect(await store.lastKnownId(source)).toBeUndefined();
    const appended = await store.append(batch(source, { to: '3', events: [event(1), event(3)] }));
    expect(appended).toEqual({ kind: 'appended', stored: 2, refused: 0, quarantined: 0 });
    expect(await store.lastKnownId(source)).toBe('3');
    expect(await storedOf(source)).toEqual(['1', '3']);
  });

  test('a batch from a cursor that has moved changes nothing', async () => {
    const { store, storedOf } = ground();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '2', events: [event(1), event(2)] }));
    expect(await store.append(batch(source, { to: '4', fence: 2, events: [event(3), event(4)] }))).toEqual({ kind: 'outpaced' });
    expect(await store.lastKnownId(source)).toBe('2');
    expect(await storedOf(source)).toEqual(['1', '2']);
  });

  test('a batch of an older lock than the last one changes nothing, also where the cursor fits', async () => {
    const { store, storedOf } = ground();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '1', fence: 9, events: [event(1)] }));
    expect(await store.append(batch(source, { from: '1', to: '2', fence: 8, events: [event(2)] }))).toEqual({ kind: 'outpaced' });
    expect(await storedOf(source)).toEqual(['1']);
  });

  test('of eight that append the same at once one does', async () => {
    const { store, storedOf } = ground();
    const source = nextSource();
    await store.lastKnownId(source);
    const events = Array.from({ length: 50 }, (_, index) => event(index + 1));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.append(batch(source, { to: '50', fence: index + 1, events }))),
    );
    expect(outcomes.filter(({ kind }) => kind === 'appended')).toHaveLength(1);
    expect(await storedOf(source)).toHaveLength(50);
  });

  test('what is known is refused and counted, what is new beside it is stored', async () => {
    const { store, storedOf } = ground();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '5', events: [event(3), event(5)] }));
    const again = batch(source, { from: '5', to: '6', fence: 2, events: [event(3), event(4), event(5), event(6)], repeated: 2 });
    expect(await store.append(again)).toEqual({ kind: 'appended', stored: 2, refused: 4, quarantined: 0 });
    expect(await storedOf(source)).toEqual(['3', '4', '5', '6']);
  });

  test('a known id with another content is quarantined, the rest is stored, the cursor moves', async () => {
    const { store, storedOf, quarantinedOf } = ground();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '1', events: [event(1)] }));
    const changed = batch(source, { from: '1', to: '2', fence: 2, events: [event(1, { n: 'other' }), event(2)] });
    expect(await store.append(changed)).toEqual({ kind: 'appended', stored: 1, refused: 0, quarantined: 1 });
    expect(await quarantinedOf(source)).toEqual(['EVENT_IMMUTABILITY_VIOLATION']);
    expect(await storedOf(source)).toEqual(['1', '2']);
    expect(await store.lastKnownId(source)).toBe('2');
  });

  test('what came unasked is compared, and never stored', async () => {
    const { store, storedOf, quarantinedOf } = ground();
    const source = nextSource();
    await store.lastKnownId(source);
    await store.append(batch(source, { to: '5', events: [event(2), event(5)] }));
    const unasked = [event(1), event(2), event(5, { n: 'other' })];
    const appended = await store.append(batch(source, { from: '5', to: '6', fence: 2, events: [event(6)], unasked }));
    expect(appended).toEqual({ kind: 'appended', stored: 1, refused: 1, quarantined: 1 });
    expect(await storedOf(source)).toEqual(['2', '5', '6']);
    expect(await quarantinedOf(source)).toEqual(['EVENT_IMMUTABILITY_VIOLATION']);
  });

  test('a bad event is quarantined once, however often it is met', async () => {
    const { store, quarantinedOf } = ground();
    const source = nextSource();
    await store.lastKnownId(source);
    const bad = [{ id: '1', code: 'EVENT_INVALID' as const, detail: 'no payload', content: '{"id":1}' }];
    expect(await store.append(batch(source, { to: '1', bad }))).toMatchObject({ quarantined: 1 });
    expect(await store.append(batch(source, { from: '1', to: '1', fence: 2, bad }))).toMatchObject({ quarantined: 0 });
    expect(await quarantinedOf(source)).toEqual(['EVENT_INVALID']);
  });
}
