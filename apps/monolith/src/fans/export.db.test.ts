import { fanExportAnswer } from '#contracts/fan-export';
import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { QuotaOffice } from '../purchase/testing/quota-office.ts';
import { TransferOffice } from '../purchase/testing/transfer-office.ts';
import type { TestAnswer } from '../testing/test-app.ts';
import { grantTurn, ops, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let transfers: TransferOffice;
let quotas: QuotaOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  transfers = new TransferOffice(office);
  quotas = new QuotaOffice(office);
});
afterAll(() => opened.close());

const exportOf = (as: string): Promise<TestAnswer> => office.monolith.call('GET', '/api/v1/me/export', { as });
const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

/** Buys, holds, is refused, offers, receives, claims, waits: every list of the export has an item. */
async function doEverything(fan: string, match: MatchOnSale, queued: MatchOnSale) {
  const { call } = office.monolith;
  const profile = { email: `${fan}@example.hr`, name: 'Ana Horvat', locale: 'en' };
  await call('PUT', '/api/v1/me', { as: fan, body: profile });
  const fcm_token = `push-token-${fan}`;
  await call('PUT', '/api/v1/me/devices/phone', { as: fan, body: { fcm_token } });
  const turn = await grantTurn(office.monolith, queued.id, fan);
  const { tickets } = await transfers.buyer(match, 2, fan);
  await office.release(await office.held(match, { as: fan }));
  const given = await transfers.offered(tickets[0], fan, `${randomUUID()}@example.hr`);
  const giver = await transfers.buyer(match);
  const got = await transfers.offered(giver.tickets[0], giver.fan, fan);
  const quotaId = await quotas.quota(
    match,
    (await quotas.places.free({ matchId: match.id, quotaId: null })).slice(-1).map(({ seatId }) => seatId),
  );
  const places = await quotas.places.free({ matchId: match.id, quotaId });
  const invitation = await quotas.invite(
    match,
    quotaId,
    places.map(({ seatId }) => seatId),
  );
  const claimed = await quotas.claimed(invitation, { as: fan });
  const reason = `seen with forged tickets, ${fan}`;
  await call('POST', '/api/v1/ops/blacklist', { ...ops, body: { user_id: fan, reason } });
  return {
    profile,
    tickets,
    given,
    got,
    giver,
    invitation,
    claimed,
    secrets: [fcm_token, turn, reason, ...tickets.map(({ code }) => code)],
  };
}

test('the export has all that is kept about a fan who did everything, nothing of another fan, and no secret', async () => {
  const match = await putOnSale(office.monolith, { sectors: [seated('East A')] });
  const queued = await putOnSale(office.monolith, { queue_required: true, sectors: [seated('East A')] });
  const [ana, other] = [randomUUID(), randomUUID()];
  const did = await doEverything(ana, match, queued);
  const others = await doEverything(other, match, queued);
  const answer = await exportOf(ana);
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  const { json } = answer;
  expect(fanExportAnswer.strict().parse(json)).toEqual(json);
  expect([json.user_id, json.profile]).toEqual([ana, did.profile]);
  expect(json.devices).toEqual([{ device_id: 'phone', updated_at: expect.any(String) }]);
  expect(json.reservations.map(({ status }: { status: string }) => status).sort()).toEqual(['completed', 'held', 'released']);
  expect(json.orders).toMatchObject([
    { email: 'ana@example.hr', holders: [{ name: 'Fan 1' }, { name: 'Fan 2' }], status: 'completed' },
  ]);
  expect(json.orders[0].timeline.map(({ event }: { event: string }) => event)).toContain('created');
  expect(idsOf(json.orders[0].tickets).sort()).toEqual(idsOf(did.tickets).sort());
  expect(idsOf(json.tickets).sort()).toEqual(idsOf(did.tickets).sort());
  expect(json.transfers.map(({ id, role }: { id: string; role: string }) => [id, role])).toEqual([
    [did.got, 'receiver'],
    [did.given, 'giver'],
  ]);
  // The address of the invitation may be that of somebody who passed the link on.
  expect(json.invitations).toMatchObject([{ id: did.invitation.id, reservation_id: did.claimed.id, email: null, name: null }]);
  expect(json.turns).toMatchObject([{ match_id: queued.id, ended_at: null }]);
  expect(json.blacklist).toEqual([{ action: 'list', at: expect.any(String), until: null }]);
  const foreign = [other, ...idsOf(others.tickets), others.given, others.got, others.invitation.id, others.claimed.id];
  expect([...foreign, ...did.secrets].filter((text) => answer.text.includes(text))).toEqual([]);
});

test('the export has address and name of an invitation that names the fan', async () => {
  const match = await putOnSale(office.monolith, { sectors: [seated('East A')] });
  const fan = randomUUID();
  const { invitation } = await doEverything(fan, match, match);
  await office.rows(`update invitations set user_id = $2, name = 'Ana' where id = $1`, [invitation.id, fan]);
  expect((await exportOf(fan)).json.invitations).toMatchObject([{ email: 'guest@example.hr', name: 'Ana' }]);
});

test('the export of a fan about whom nothing is kept has an empty profile and empty lists', async () => {
  const { json } = await exportOf(randomUUID());
  const { user_id: _user, exported_at: _at, profile, ...lists } = json;
  expect(profile).toEqual({ email: null, name: null, locale: 'hr' });
  expect(Object.values(lists).flat()).toEqual([]);
  expect(fanExportAnswer.safeParse(json).success).toBe(true);
});

test('the export of a fan with 500 orders has each order and each reservation once, newest first', async () => {
  const fan = randomUUID();
  const match = await putOnSale(office.monolith, { sectors: [seated('East A')] });
  await office.rows(
    `with made as (
       insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents,
                                 currency, expires_at, swept)
       select gen_random_uuid(), $2, $3, $1, 'expired', array[gen_random_uuid()], 1, 'East A', 2500, true, 2500, 'EUR', now(), true
       from generate_series(1, 500) returning *
     )
     insert into orders (id, number, match_id, reservation_id, user_id, claims_window, status, total_cents, currency, email, holders, provider)
     select gen_random_uuid(), 'ORD-' || id, match_id, id, user_id, false, 'expired', 2500, 'EUR', 'ana@example.hr', '[]', 'sandbox' from made`,
    [fan, match.id, match.sectors[0]?.id],
  );
  const { json } = await exportOf(fan);
  for (const table of ['orders', 'reservations'] as const) {
    const kept = await office.rows<{ id: string }>(`select id from ${table} where user_id = $1 order by id desc`, [fan]);
    expect(kept).toHaveLength(500);
    expect(idsOf(json[table])).toEqual(idsOf(kept));
  }
});

test('the export needs a caller', async () => {
  expect((await office.monolith.call('GET', '/api/v1/me/export')).status).toBe(401);
});
