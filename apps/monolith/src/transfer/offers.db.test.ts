import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { statusAndCode, TransferOffice } from '../purchase/testing/transfer-office.ts';
import { newKey } from '../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';

const HOUR_MS = 3_600_000;
let opened: OpenBoxOffice;
let office: BoxOffice;
let transfers: TransferOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  transfers = new TransferOffice(office);
});
afterAll(() => opened.close());

const onSale = (facts = {}): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { kickoff_at: hoursFromNow(240), sectors: [seated('East A')], ...facts });
const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
const patch = (match: MatchOnSale, body: object) =>
  office.monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body });

test('an offered ticket stays the giver’s, its code stays valid, and the receiver has nothing but the offer', async () => {
  const match = await onSale();
  const { fan, tickets } = await transfers.buyer(match);
  const [ticket] = tickets;
  const receiver = await transfers.fan();
  const { status, json } = await transfers.offer(ticket, fan, receiver, { holder_name: 'Barbara Barić' });
  expect([status, json]).toEqual([
    202,
    {
      ...{ id: expect.any(String), role: 'giver', ticket_id: ticket.id, match_id: match.id, seat: ticket.seat },
      ...{ status: 'offered', holder_name: 'Barbara Barić', to_user_id: receiver, to_email: null, new_ticket_id: null },
      ...{ created_at: expect.any(String), expires_at: expect.any(String), ended_at: null },
    },
  ]);
  expect(await transfers.tickets(fan)).toEqual([ticket]);
  expect(await transfers.tickets(receiver)).toEqual([]);
  expect(await transfers.transfers(fan)).toEqual([json]);
  expect(await transfers.transfers(receiver)).toEqual([{ ...json, role: 'receiver' }]);
  expect(await transfers.transfers(randomUUID())).toEqual([]);
});

test.each([
  ['72 hours later', 240, 72],
  ['at kick-off, if that is earlier', 10, 10],
])('an offer ends %s', async (_when, kickoffInHours, hours) => {
  const { fan, tickets } = await transfers.buyer(await onSale({ kickoff_at: hoursFromNow(kickoffInHours) }));
  const { json } = await transfers.offer(tickets[0], fan, 'b@example.hr');
  expect(Math.round((Date.parse(json.expires_at) - Date.now()) / 60_000)).toBeCloseTo(hours * 60, -1);
});

test('a ticket has one open offer: a second one is refused until the first one is withdrawn', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const first = await transfers.offered(tickets[0], fan, 'b@example.hr');
  const second = await transfers.offer(tickets[0], fan, await transfers.fan());
  expect([second.status, second.json.code, second.json.transfer_status]).toEqual([409, 'INVALID_STATE', 'offered']);
  expect(statusAndCode(await transfers.withdraw(first, fan))).toBe('204');
  expect(statusAndCode(await transfers.offer(tickets[0], fan, await transfers.fan()))).toBe('202');
});

test('two offers of one ticket at once: exactly one is made', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const answers = await Promise.all(['b@example.hr', 'c@example.hr'].map((to) => transfers.offer(tickets[0], fan, to)));
  expect(answers.map(statusAndCode).sort()).toEqual(['202', '409 INVALID_STATE']);
});

test('a repeated idempotency key makes one offer and gets the same answer', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const key = newKey();
  const first = await transfers.offer(tickets[0], fan, 'b@example.hr', { key });
  const again = await transfers.offer(tickets[0], fan, 'b@example.hr', { key });
  expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([202, first.text, 'true']);
  expect(await transfers.transfers(fan)).toHaveLength(1);
});

describe('an offer is refused', () => {
  test.each([
    ['of a ticket of another fan', '404 NOT_FOUND'],
    ['of an unknown ticket', '404 NOT_FOUND'],
    ['to an unknown user id', '404 NOT_FOUND'],
    ['to oneself', '409 INVALID_STATE'],
    ['to one’s own address, in other letters', '409 INVALID_STATE'],
  ])('%s: %s', async (what, expected) => {
    const fan = await transfers.fan({ email: 'ana@example.hr' });
    const { tickets } = await transfers.buyer(await onSale(), 1, fan);
    const ticket = what.includes('unknown ticket') ? { id: randomUUID() } : tickets[0];
    const from = what.includes('another fan') ? await transfers.fan() : fan;
    const to = { 'to oneself': fan, 'to an unknown user id': randomUUID() }[what];
    const receiver = what.includes('own address') ? 'Ana@Example.hr' : (to ?? (await transfers.fan()));
    expect(statusAndCode(await transfers.offer(ticket, from, receiver))).toBe(expected);
  });

  test.each(['used', 'refunded', 'transferred'])('of a ticket that was %s', async (status) => {
    const { fan, tickets } = await transfers.buyer(await onSale());
    await office.rows(`update tickets set status = $1 where id = $2`, [status, tickets[0].id]);
    expect(statusAndCode(await transfers.offer(tickets[0], fan, 'b@example.hr'))).toBe('409 INVALID_STATE');
  });

  test('with TRANSFERS_LOCKED while an operator has locked transfers of the match', async () => {
    const match = await onSale();
    const { fan, tickets } = await transfers.buyer(match);
    expect((await patch(match, { transfers: 'locked' })).json.transfers).toBe('locked');
    expect((await office.monolith.call('GET', `/api/v1/matches/${match.id}`)).json.transfers).toBe('locked');
    expect(statusAndCode(await transfers.offer(tickets[0], fan, 'b@example.hr'))).toBe('409 TRANSFERS_LOCKED');
    expect((await patch(match, { transfers: 'allowed' })).json.transfers).toBe('allowed');
    expect(statusAndCode(await transfers.offer(tickets[0], fan, 'b@example.hr'))).toBe('202');
  });

  test('after the kick-off', async () => {
    const match = await onSale();
    const { fan, tickets } = await transfers.buyer(match);
    await patch(match, { kickoff_at: hoursFromNow(-1) });
    expect(statusAndCode(await transfers.offer(tickets[0], fan, 'b@example.hr'))).toBe('409 INVALID_STATE');
  });

  test('for a cancelled match', async () => {
    const match = await onSale();
    const { fan, tickets } = await transfers.buyer(match);
    await office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body: { reason: 'Snow' } });
    const { json } = await transfers.offer(tickets[0], fan, 'b@example.hr');
    expect([json.code, json.cancelled_at]).toEqual(['INVALID_STATE', expect.any(String)]);
  });

  test.each([
    ['without a receiver', { holder_name: 'Barbara' }],
    ['with two receivers', { to_user_id: randomUUID(), to_email: 'b@example.hr' }],
    ['with something that is no address', { to_email: 'barbara' }],
    ['with something that is no user id', { to_user_id: '7' }],
    ['with an empty name', { to_email: 'b@example.hr', holder_name: ' ' }],
  ])('%s: VALIDATION_FAILED', async (_what, body) => {
    const url = `/api/v1/tickets/${randomUUID()}/transfer`;
    expect((await office.monolith.call('POST', url, { as: randomUUID(), body })).json.code).toBe('VALIDATION_FAILED');
  });
});

test.each([
  ['has stored a profile', async (fan: string) => void (await office.rows(`insert into fans (user_id) values ($1)`, [fan]))],
  [
    'has only registered a device',
    async (fan: string) =>
      void (await office.rows(`insert into devices (user_id, device_id, fcm_token) values ($1, 'phone', 'token')`, [fan])),
  ],
  ['has only held seats', async (fan: string) => void (await office.held(await onSale(), { as: fan }))],
])('a ticket can be offered to a fan who %s', async (_what, makeKnown) => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const receiver = randomUUID();
  await makeKnown(receiver);
  expect(statusAndCode(await transfers.offer(tickets[0], fan, receiver))).toBe('202');
});

test('offers are listed newest first, in pages', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale(), 3);
  const ids: string[] = [];
  for (const ticket of tickets) ids.push(await transfers.offered(ticket, fan, 'b@example.hr'));
  const read = (query: string) => office.monolith.call('GET', `/api/v1/transfers?${query}`, { as: fan });
  const first = (await read('limit=2')).json;
  const second = (await read(`limit=2&cursor=${first.next_cursor}`)).json;
  expect([...first.items, ...second.items].map(({ id }: { id: string }) => id)).toEqual([...ids].reverse());
  expect(second.next_cursor).toBeNull();
  expect((await read('cursor=x')).json.code).toBe('VALIDATION_FAILED');
});

test('a fan changes nothing about the offers of others: every call with a foreign or unknown id is 404', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const id = await transfers.offered(tickets[0], fan, await transfers.fan());
  const stranger = await transfers.fan({ email: 'stranger@example.hr' });
  for (const offerId of [id, randomUUID()])
    for (const answer of [
      await transfers.accept(offerId, stranger),
      await transfers.decline(offerId, stranger),
      await transfers.withdraw(offerId, stranger),
    ])
      expect([statusAndCode(answer), answer.json.detail]).toEqual(['404 NOT_FOUND', 'There is no such offer of a ticket.']);
  expect((await transfers.transfers(fan))[0].status).toBe('offered');
});
