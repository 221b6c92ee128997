import { PostgresLoadedEffect } from '#event-loader/adapters/postgres-loaded-effect';
import { answering, type Answering } from '#event-loader/testing/answering';
import { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BoxOffice, openBoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { ops, putOnSale, type MatchOnSale } from '../testing/whole-monolith.ts';
import { GateLogApi } from '../ticketing/gate-log.api.ts';
import { addLoaderCommands } from './loader-commands.ts';

// What gates and partners tell, from their own lists to what becomes of it here.

let open: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let source: Answering;
let folder: string;
const told: Record<string, unknown[]> = { gate: [], partner: [], other: [] };
const stdoutWrite = process.stdout.write;
const environmentBefore = { ...process.env };

beforeAll(async () => {
  open = await openBoxOffice();
  office = open.office;
  match = await putOnSale(office.monolith);
  source = await answering((url, response) => {
    const after = Number(url.searchParams.get('after_id'));
    const events = (told[url.pathname.slice(1)] ?? []).map((payload, index) => ({ id: index + 1, payload })).slice(after);
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

/** Told, loaded and acted upon; which events they were. */
async function tell(name: string, ...payloads: unknown[]): Promise<string[]> {
  const before = told[name]!.length;
  told[name]!.push(...payloads);
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
/** As if the process had died between the effect and the next thing it did. */
const again = (name: string, eventId: string, feeds: string): Promise<unknown> =>
  office.rows(`insert into loaded_events_due (source, event_id, feeds) values ($1, $2, $3) on conflict do nothing`, [
    name,
    eventId,
    feeds,
  ]);

class Forgetful extends PostgresLoadedEffect {
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

  test('whoever went in by a living ticket has used it', async () => {
    const mine = await ticket();
    await tell('gate', scan(mine.code));
    expect(await statusOf(mine)).toBe('used');
    expect([await conflicts('gate'), await due('gate')]).toEqual([[], []]);
  }, 30_000);

  test('whom the gate sent away has used nothing', async () => {
    const mine = await ticket();
    await tell('gate', scan(mine.code, { admitted: false }));
    expect(await statusOf(mine)).toBe('valid');
  }, 30_000);

  test('every other way in is a conflict, and changes no ticket', async () => {
    const [twice, given, elsewhere] = [await ticket(), await ticket(), await ticket()];
    await office.monolith.call('POST', `/api/v1/tickets/${given.id}/transfer`, {
      as: given.userId,
      body: { to_user_id: randomUUID(), holder_name: 'Iva' },
    });
    const ids = await tell(
      'gate',
      scan(twice.code),
      scan(twice.code, { gate: 'south 1' }),
      scan(given.code),
      scan(elsewhere.code, { match_id: randomUUID() }),
      scan(forged(elsewhere.code)),
    );
    expect(await codesOf('gate', ids)).toEqual(['TICKET_USED', 'TICKET_DEAD', 'TICKET_OF_ANOTHER_MATCH', 'CODE_FORGED']);
    expect([await statusOf(twice), await statusOf(given), await statusOf(elsewhere)]).toEqual(['used', 'transferred', 'valid']);
  }, 30_000);

  test('four act upon the same scan at once: it has one effect, and nobody is accused of going in twice', async () => {
    const mine = await ticket();
    const hear = (effect: PostgresLoadedEffect): Promise<unknown> =>
      office.monolith.get(GateLogApi).hear(scan(mine.code), effect);
    await again('gate', '901', 'gate-scans');
    await Promise.all(Array.from({ length: 4 }, () => hear(new PostgresLoadedEffect('gate', '901'))));
    expect([await statusOf(mine), await codesOf('gate', ['901'])]).toEqual(['used', []]);
    // The control: without its note the same scan is a second one.
    await hear(new Forgetful('gate', '901'));
    expect(await codesOf('gate', ['901'])).toEqual(['TICKET_USED']);
  }, 30_000);

  test('what is no scan is set aside, and those behind it take effect', async () => {
    const mine = await ticket();
    const [bad] = await tell('gate', scan(mine.code, { admitted: 'yes' }), scan(mine.code));
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

  test('free seats are blocked, and nobody can hold them', async () => {
    const seatIds = await freeSeats(3);
    await tell('partner', sale(seatIds));
    expect(await statesOf(seatIds)).toEqual(['blocked', 'blocked', 'blocked']);
    expect((await office.hold(match, { seatIds: seatIds.slice(0, 1) })).status).toBe(409);
    const report = await office.monolith.call('GET', `/api/v1/ops/matches/${match.id}/report`, ops);
    expect(report.json).toMatchObject({ blocked: 3 });
    expect([await conflicts('partner'), await due('partner')]).toEqual([[], []]);
  }, 30_000);

  test('of a sale the free seats are blocked, and each other one is a conflict', async () => {
    const [sold, blocked, unknown, free] = [await office.held(match), await freeSeats(1), randomUUID(), await freeSeats(2)];
    await office.settle(office.report(await office.ordered(sold)));
    await office.block(blocked);
    const ids = await tell('partner', sale([...sold.seatIds, ...blocked, unknown, free[1]!]));
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

  test('a seat that a fan is buying stays theirs; given up, it is blocked, and the conflict resolves itself', async () => {
    const held = await office.held(match);
    const [id] = await tell('partner', sale(held.seatIds));
    expect(await codesOf('partner', [id!])).toEqual(['SEAT_HELD']);
    expect(await statesOf(held.seatIds)).toEqual(['held']);
    await office.lapse(held);
    await office.rows(`update loaded_events_due set due_at = now() where source = 'partner' and event_id = $1`, [id]);
    await tell('partner');
    expect(await statesOf(held.seatIds)).toEqual(['blocked']);
    expect((await conflicts('partner')).filter(({ event_id }) => event_id === id)).toMatchObject([{ is_open: false }]);
    expect(await due('partner')).toEqual([]);
  }, 30_000);

  test('and bought, it is sold: the conflict stays', async () => {
    const held = await office.held(match);
    const [id] = await tell('partner', sale(held.seatIds));
    await office.settle(office.report(await office.ordered(held)));
    await office.rows(`update loaded_events_due set due_at = now() where source = 'partner' and event_id = $1`, [id]);
    await tell('partner');
    expect((await conflicts('partner')).filter(({ event_id }) => event_id === id)).toMatchObject([
      { code: 'SEAT_SOLD', is_open: true },
    ]);
    expect(await due('partner')).toEqual([]);
  }, 30_000);

  test('a hold that waits for its payment past its end gets its money back: the seat went elsewhere', async () => {
    const held = await office.held(match);
    const order = await office.ordered(held);
    await office.lapse(held);
    await tell('partner', sale(held.seatIds));
    expect(await office.settle(office.report(order))).toBe('refunded');
    expect(await statesOf(held.seatIds)).toEqual(['blocked']);
  }, 30_000);

  test('handed over again, or told again by the same partner, it is one sale; two partners that sold the same are a conflict', async () => {
    const seatIds = await freeSeats(2);
    const [first] = await tell('partner', sale(seatIds, 'P-1'));
    await again('partner', first!, 'partner-sales');
    const [repeated] = await tell('partner', sale(seatIds, 'P-1'));
    expect(await codesOf('partner', [first!, repeated!])).toEqual([]);
    const ids = await tell('other', sale(seatIds, 'P-1'));
    expect(await codesOf('other', ids)).toEqual(['SEAT_BLOCKED', 'SEAT_BLOCKED']);
    expect(await due('partner')).toEqual([]);
  }, 30_000);

  test('what is no sale is set aside, and those behind it take effect', async () => {
    const seatIds = await freeSeats(1);
    const [bad] = await tell('partner', sale([]), sale(seatIds));
    expect(await statesOf(seatIds)).toEqual(['blocked']);
    expect(await due('partner')).toEqual([{ event_id: bad, parked: true }]);
    const [row] = await office.rows<{ last_error: string }>(`select last_error from loaded_events_due where source = 'partner'`);
    expect(row?.last_error).toContain('seat_ids');
  }, 30_000);

  test('who sells hears of it, and proposes none of those seats', async () => {
    const fresh = await putOnSale(office.monolith, { away: 'Island' });
    await office.held(fresh);
    const best = await office.rows<{ id: string }>(
      `select id from seats where sector_id = $1 and status = 'available' order by rank limit 12`,
      [fresh.sectors[0]?.id],
    );
    await tell('partner', { ...sale(best.map(({ id }) => id)), match_id: fresh.id });
    const held = await office.held(fresh);
    expect(best.map(({ id }) => id)).not.toContain(held.seatIds[0]);
  }, 30_000);
});

/** One letter of the signature is another; at its very end two letters may mean the same bytes. */
function forged(code: string): string {
  const at = code.length - 10;
  return code.slice(0, at) + (code[at] === 'A' ? 'B' : 'A') + code.slice(at + 1);
}
