import { PostgresLoadedEffect } from '#event-loader/adapters/postgres-loaded-effect';
import { startSourceServer, type SourceServer } from '#event-loader/testing/source-server';
import { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BoxOffice, openBoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { ops, putOnSale, type MatchOnSale } from '../testing/whole-monolith.ts';
import { GateLogApi } from '../ticketing/gate-log.api.ts';
import { addLoaderCommands } from './loader-commands.ts';
import { giveTicket } from '../testing/transfer-calls.ts';

// Events of gates and partners: from the list of events at their source to their effect in our database.

let open: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let source: SourceServer;
let folder: string;
const eventsOf: Record<string, unknown[]> = { gate: [], partner: [], other: [] };
const stdoutWrite = process.stdout.write;
const environmentBefore = { ...process.env };

beforeAll(async () => {
  open = await openBoxOffice();
  office = open.office;
  match = await putOnSale(office.monolith);
  source = await startSourceServer((url, response) => {
    const after = Number(url.searchParams.get('after_id'));
    const events = (eventsOf[url.pathname.slice(1)] ?? []).map((payload, index) => ({ id: index + 1, payload })).slice(after);
    response.end(JSON.stringify({ events }));
  });
  folder = await mkdtemp(path.join(tmpdir(), 'tribina-effects-'));
  const file = path.join(folder, 'sources.json');
  const list = [
    { name: 'gate', feeds: 'gate-scans' },
    { name: 'partner', feeds: 'partner-sales' },
    { name: 'other', feeds: 'partner-sales' },
  ];
  await writeFile(
    file,
    JSON.stringify(list.map((one) => ({ ...one, kind: 'http', url: new URL(`/${one.name}`, source.url).href }))),
  );
  Object.assign(process.env, open.settings, { LOG_LEVEL: 'silent', LOADER_SOURCES: file });
}, 60_000);
afterAll(async () => {
  process.env = environmentBefore;
  await Promise.all([source.close(), rm(folder, { recursive: true })]);
  await open.close();
});

async function cli(...args: string[]): Promise<string> {
  const program = new Command('tribina').exitOverride();
  addLoaderCommands(program);
  let out = '';
  process.stdout.write = (text) => Boolean((out += String(text)));
  await program.parseAsync(args, { from: 'user' }).finally(() => (process.stdout.write = stdoutWrite));
  return out;
}

/** Adds events to a source, loads them and applies their effects. Returns the events' ids. */
async function addAndLoad(name: string, ...payloads: unknown[]): Promise<string[]> {
  const before = eventsOf[name]!.length;
  eventsOf[name]!.push(...payloads);
  await cli('loader:run', '--once');
  await new Promise((resolve) => setTimeout(resolve, 220));
  return payloads.map((_, index) => String(before + index + 1));
}

interface ConflictRow {
  readonly event_id: string;
  readonly code: string;
  readonly subject: string;
  readonly is_open: boolean;
}
const conflicts = (name: string): Promise<ConflictRow[]> =>
  office.rows<ConflictRow>(
    `select event_id, code, subject, resolved_at is null as is_open from loaded_conflicts where source = $1 order by event_id::int, code`,
    [name],
  );
const codesOf = async (name: string, eventIds: readonly string[]): Promise<string[]> =>
  (await conflicts(name)).filter(({ event_id }) => eventIds.includes(event_id)).map(({ code }) => code);
const due = (name: string): Promise<unknown[]> =>
  office.rows(`select event_id, parked_at is not null as parked from loaded_events_due where source = $1`, [name]);
/**
 * Makes the event wait for its effect again, as if the process had died after the effect and before it removed the event from
 * `loaded_events_due`.
 */
const makeDueAgain = (name: string, eventId: string, feeds: string): Promise<unknown> =>
  office.rows(`insert into loaded_events_due (source, event_id, feeds) values ($1, $2, $3) on conflict do nothing`, [
    name,
    eventId,
    feeds,
  ]);

/** An effect without its guard against repeats: it does not notice that the event was applied before. */
class UnguardedEffect extends PostgresLoadedEffect {
  override begin = (): Promise<boolean> => Promise.resolve(true);
}

describe('gate scans', () => {
  interface Bought {
    readonly id: string;
    readonly code: string;
    readonly userId: string;
  }
  async function ticket(): Promise<Bought> {
    const held = await office.held(match);
    const order = await office.ordered(held);
    await office.settle(office.report(order));
    const { json } = await office.monolith.call('GET', '/api/v1/tickets', { as: held.userId });
    return { ...json.items[0], userId: held.userId };
  }
  const scan = (code: string, change: Record<string, unknown> = {}) => ({
    ...{ type: 'gate.scan', code, match_id: match.id, gate: 'north 3', scanned_at: '2026-11-18T19:31:07Z', admitted: true },
    ...change,
  });
  const statusOf = async ({ id, userId }: Bought): Promise<string> =>
    (await office.monolith.call('GET', `/api/v1/tickets/${id}`, { as: userId })).json.status;

  test('an admitted scan of a valid ticket makes the ticket used', async () => {
    const mine = await ticket();
    await addAndLoad('gate', scan(mine.code));
    expect(await statusOf(mine)).toBe('used');
    expect([await conflicts('gate'), await due('gate')]).toEqual([[], []]);
  }, 30_000);

  test('a scan that the gate did not admit changes nothing', async () => {
    const mine = await ticket();
    await addAndLoad('gate', scan(mine.code, { admitted: false }));
    expect(await statusOf(mine)).toBe('valid');
  }, 30_000);

  test('a second scan of a ticket, an old code, a ticket of another match and a forged code are conflicts and change no ticket', async () => {
    const [twice, transferred, elsewhere] = [await ticket(), await ticket(), await ticket()];
    await giveTicket(office.monolith, { ticketId: transferred.id, from: transferred.userId, to: randomUUID() });
    const ids = await addAndLoad(
      'gate',
      scan(twice.code),
      scan(twice.code, { gate: 'south 1' }),
      scan(transferred.code),
      scan(elsewhere.code, { match_id: randomUUID() }),
      scan(forged(elsewhere.code)),
    );
    expect(await codesOf('gate', ids)).toEqual(['TICKET_USED', 'TICKET_DEAD', 'TICKET_OF_ANOTHER_MATCH', 'CODE_FORGED']);
    expect([await statusOf(twice), await statusOf(transferred), await statusOf(elsewhere)]).toEqual([
      'used',
      'transferred',
      'valid',
    ]);
  }, 30_000);

  test('a scan that four processes apply at once has one effect and makes no TICKET_USED conflict', async () => {
    const mine = await ticket();
    const apply = (effect: PostgresLoadedEffect): Promise<unknown> =>
      office.monolith.get(GateLogApi).record(scan(mine.code), effect);
    await makeDueAgain('gate', '901', 'gate-scans');
    await Promise.all(Array.from({ length: 4 }, () => apply(new PostgresLoadedEffect('gate', '901'))));
    expect([await statusOf(mine), await codesOf('gate', ['901'])]).toEqual(['used', []]);
    // Negative control: without the guard against repeats, the same scan counts as a second entry of the ticket.
    await apply(new UnguardedEffect('gate', '901'));
    expect(await codesOf('gate', ['901'])).toEqual(['TICKET_USED']);
  }, 30_000);

  test('a malformed scan is parked, and the events after it take effect', async () => {
    const mine = await ticket();
    const [bad] = await addAndLoad('gate', scan(mine.code, { admitted: 'yes' }), scan(mine.code));
    expect(await statusOf(mine)).toBe('used');
    expect(await due('gate')).toEqual([{ event_id: bad, parked: true }]);
  }, 30_000);
});

describe('partner sales', () => {
  const sale = (seatIds: readonly string[], reference: string = randomUUID()) => ({
    ...{ type: 'partner.sale', reference, match_id: match.id, seat_ids: seatIds, sold_at: '2026-11-18T19:31:07Z' },
  });
  async function freeSeats(count: number): Promise<string[]> {
    const rows = await office.rows<{ id: string }>(
      `select id from seats where match_id = $1 and status = 'available' order by rank desc limit $2`,
      [match.id, count],
    );
    return rows.map(({ id }) => id);
  }
  const statesOf = async (seatIds: readonly string[]): Promise<(string | undefined)[]> =>
    Promise.all(seatIds.map(async (id) => (await office.holderOf(id))?.status));

  test('block free seats, so that no fan can hold them', async () => {
    const seatIds = await freeSeats(3);
    await addAndLoad('partner', sale(seatIds));
    expect(await statesOf(seatIds)).toEqual(['blocked', 'blocked', 'blocked']);
    expect((await office.hold(match, { seatIds: seatIds.slice(0, 1) })).status).toBe(409);
    const report = await office.monolith.call('GET', `/api/v1/ops/matches/${match.id}/report`, ops);
    expect(report.json).toMatchObject({ blocked: 3 });
    expect([await conflicts('partner'), await due('partner')]).toEqual([[], []]);
  }, 30_000);

  test('of free and taken seats block the free seats; each taken or unknown seat is a conflict', async () => {
    const [sold, blocked, unknown, free] = [await office.held(match), await freeSeats(1), randomUUID(), await freeSeats(2)];
    await office.settle(office.report(await office.ordered(sold)));
    await office.block(blocked);
    const ids = await addAndLoad('partner', sale([...sold.seatIds, ...blocked, unknown, free[1]!]));
    expect((await codesOf('partner', ids)).sort()).toEqual(['SEAT_BLOCKED', 'SEAT_SOLD', 'SEAT_UNKNOWN']);
    expect(await statesOf([...sold.seatIds, ...blocked, free[1]!])).toEqual(['sold', 'blocked', 'blocked']);
    expect(await due('partner')).toEqual([]);
    const [status] = JSON.parse(await cli('loader:status', '--json')).filter(
      ({ source: name }: { source: string }) => name === 'partner',
    );
    expect(status).toMatchObject({ conflicts: 3, due: 0, parked: 0 });
    const page = await office.monolith.app.inject({ method: 'GET', url: '/metrics' });
    expect(page.body).toMatch(/^loader_conflicts\{source="partner"\} 3$/m);
  }, 30_000);

  test('leave a held seat to its fan; when the hold ends the seat is blocked and the conflict is resolved', async () => {
    const held = await office.held(match);
    const [id] = await addAndLoad('partner', sale(held.seatIds));
    expect(await codesOf('partner', [id!])).toEqual(['SEAT_HELD']);
    expect(await statesOf(held.seatIds)).toEqual(['held']);
    await office.lapse(held);
    await office.rows(`update loaded_events_due set due_at = now() where source = 'partner' and event_id = $1`, [id]);
    await addAndLoad('partner');
    expect(await statesOf(held.seatIds)).toEqual(['blocked']);
    expect((await conflicts('partner')).filter(({ event_id }) => event_id === id)).toMatchObject([{ is_open: false }]);
    expect(await due('partner')).toEqual([]);
  }, 30_000);

  test('leave a held seat to its fan; when the fan buys the seat the conflict stays open', async () => {
    const held = await office.held(match);
    const [id] = await addAndLoad('partner', sale(held.seatIds));
    await office.settle(office.report(await office.ordered(held)));
    await office.rows(`update loaded_events_due set due_at = now() where source = 'partner' and event_id = $1`, [id]);
    await addAndLoad('partner');
    expect((await conflicts('partner')).filter(({ event_id }) => event_id === id)).toMatchObject([
      { code: 'SEAT_SOLD', is_open: true },
    ]);
    expect(await due('partner')).toEqual([]);
  }, 30_000);

  test('block the seat of an expired hold; its payment comes too late and is refunded', async () => {
    const held = await office.held(match);
    const order = await office.ordered(held);
    await office.lapse(held);
    await addAndLoad('partner', sale(held.seatIds));
    expect(await office.settle(office.report(order))).toBe('refunded');
    expect(await statesOf(held.seatIds)).toEqual(['blocked']);
  }, 30_000);

  test('have one effect although the event is applied again or the partner repeats it; a sale of the same seats by another partner is a conflict', async () => {
    const seatIds = await freeSeats(2);
    const [first] = await addAndLoad('partner', sale(seatIds, 'P-1'));
    await makeDueAgain('partner', first!, 'partner-sales');
    const [repeated] = await addAndLoad('partner', sale(seatIds, 'P-1'));
    expect(await codesOf('partner', [first!, repeated!])).toEqual([]);
    const ids = await addAndLoad('other', sale(seatIds, 'P-1'));
    expect(await codesOf('other', ids)).toEqual(['SEAT_BLOCKED', 'SEAT_BLOCKED']);
    expect(await due('partner')).toEqual([]);
  }, 30_000);

  test('that are malformed are parked, and the events after them take effect', async () => {
    const seatIds = await freeSeats(1);
    const [bad] = await addAndLoad('partner', sale([]), sale(seatIds));
    expect(await statesOf(seatIds)).toEqual(['blocked']);
    expect(await due('partner')).toEqual([{ event_id: bad, parked: true }]);
    const [row] = await office.rows<{ last_error: string }>(`select last_error from loaded_events_due where source = 'partner'`);
    expect(row?.last_error).toContain('seat_ids');
  }, 30_000);

  test('reach the monolith’s sector snapshot, so that it offers none of those seats', async () => {
    const otherMatch = await putOnSale(office.monolith, { away: 'Island' });
    await office.held(otherMatch);
    const best = await office.rows<{ id: string }>(
      `select id from seats where sector_id = $1 and status = 'available' order by rank limit 12`,
      [otherMatch.sectors[0]?.id],
    );
    await addAndLoad('partner', { ...sale(best.map(({ id }) => id)), match_id: otherMatch.id });
    const held = await office.held(otherMatch);
    expect(best.map(({ id }) => id)).not.toContain(held.seatIds[0]);
  }, 30_000);
});

/** Changes one letter of the signature. Not the last letter: there two letters can decode to the same bytes. */
function forged(code: string): string {
  const at = code.length - 10;
  return code.slice(0, at) + (code[at] === 'A' ? 'B' : 'A') + code.slice(at + 1);
}
