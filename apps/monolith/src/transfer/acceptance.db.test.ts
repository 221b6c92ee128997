import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { statusAndCode, TransferOffice } from '../purchase/testing/transfer-office.ts';
import { newKey } from '../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { verifyDatabase } from '../cli/verify/verify-database.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let transfers: TransferOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  transfers = new TransferOffice(office);
});
afterAll(() => opened.close());

const onSale = (limit = 2): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { max_tickets_per_fan: limit, sectors: [seated('East A')] });
const limitOf = async (match: MatchOnSale, fan: string): Promise<string> => statusAndCode(await office.hold(match, { as: fan }));

async function expectInvariantsHold(match: MatchOnSale): Promise<void> {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
}

test('after the acceptance the giver has a transferred ticket, and the receiver a valid one with another code for the same seat', async () => {
  const match = await onSale();
  const { fan, tickets } = await transfers.buyer(match, 2);
  const [given, kept] = tickets;
  const receiver = await transfers.fan();
  const id = await transfers.offered(given, fan, receiver);
  const { status, json } = await transfers.accept(id, receiver, { holder_name: 'Barbara Barić' });
  const [received, ...others] = await transfers.tickets(receiver);
  expect([status, json.status, json.role, json.new_ticket_id]).toEqual([200, 'accepted', 'receiver', received?.id]);
  expect([received?.status, received?.holder_name, received?.seat, others]).toEqual(['valid', 'Barbara Barić', given.seat, []]);
  expect(received?.code).not.toBe(given.code);
  const statuses = new Map((await transfers.tickets(fan)).map((ticket) => [ticket.id, ticket.status]));
  expect([statuses.get(given.id), statuses.get(kept?.id ?? '')]).toEqual(['transferred', 'valid']);
  expect((await transfers.transfers(fan))[0]).toMatchObject({ id, status: 'accepted', role: 'giver', new_ticket_id: null });
  for (const file of ['qr.svg', 'ticket.pdf']) {
    const old = await office.monolith.call('GET', `/api/v1/tickets/${given.id}/${file}`, { as: fan });
    const own = await office.monolith.call('GET', `/api/v1/tickets/${received?.id}/${file}`, { as: receiver });
    const foreign = await office.monolith.call('GET', `/api/v1/tickets/${received?.id}/${file}`, { as: fan });
    expect([old.json.code, own.status, foreign.status]).toEqual(['INVALID_STATE', 200, 404]);
  }
  await expectInvariantsHold(match);
});

test.each([
  ['the receiver gives', { holder_name: 'Iva' }, { holder_name: 'Barbara' }, { name: 'Bara' }, 'Barbara'],
  ['the giver suggested', { holder_name: 'Iva' }, {}, { name: 'Bara' }, 'Iva'],
  ['the receiver’s profile has', {}, {}, { name: 'Bara' }, 'Bara'],
  ['was on the ticket', {}, {}, {}, 'Fan 1'],
])('the new ticket has the name that %s', async (_whose, offer, acceptance, profile, expected) => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const receiver = await transfers.fan(profile);
  await transfers.accept(await transfers.offered(tickets[0], fan, receiver, offer), receiver, acceptance);
  expect((await transfers.tickets(receiver))[0]?.holder_name).toBe(expected);
});

test.each([undefined, {}])('an acceptance with the body %j is accepted', async (body) => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const receiver = await transfers.fan();
  const id = await transfers.offered(tickets[0], fan, receiver);
  const call = { as: receiver, ...(body ? { body } : {}) };
  expect((await office.monolith.call('POST', `/api/v1/transfers/${id}/accept`, call)).status).toBe(200);
});

describe('an offer to an address', () => {
  test('belongs to the fan whose profile has it, in any case of letters, whenever the fan has written it there', async () => {
    const { fan, tickets } = await transfers.buyer(await onSale());
    const id = await transfers.offered(tickets[0], fan, 'Barbara@Example.hr');
    const receiver = await transfers.fan({ email: 'barbara@example.hr' });
    expect((await transfers.transfers(receiver)).map((offer) => [offer.id, offer.role, offer.status])).toEqual([
      [id, 'receiver', 'offered'],
    ]);
    const { json } = await transfers.accept(id, receiver);
    expect([json.status, json.to_email, json.to_user_id]).toEqual(['accepted', 'Barbara@Example.hr', null]);
    // The receiver keeps the offer after a change of the address.
    await office.rows(`update fans set email = null where user_id = $1`, [receiver]);
    expect((await transfers.transfers(receiver)).map((offer) => offer.status)).toEqual(['accepted']);
  });

  test('tells the giver neither the account nor the ticket of the receiver', async () => {
    const { fan, tickets } = await transfers.buyer(await onSale());
    const receiver = await transfers.fan({ email: 'c@example.hr' });
    const { new_ticket_id } = (await transfers.accept(await transfers.offered(tickets[0], fan, 'c@example.hr'), receiver)).json;
    const seen = await transfers.transfers(fan);
    expect(seen[0]).toMatchObject({ status: 'accepted', to_user_id: null, new_ticket_id: null });
    for (const secret of [receiver, new_ticket_id]) expect(JSON.stringify(seen)).not.toContain(secret);
  });

  test('does not belong to a fan without an address', async () => {
    const { fan, tickets } = await transfers.buyer(await onSale());
    const id = await transfers.offered(tickets[0], fan, 'd@example.hr');
    expect(statusAndCode(await transfers.accept(id, await transfers.fan()))).toBe('404 NOT_FOUND');
  });

  test('that the giver’s own profile has now is not accepted', async () => {
    const { fan, tickets } = await transfers.buyer(await onSale());
    const id = await transfers.offered(tickets[0], fan, 'e@example.hr');
    await office.monolith.call('PUT', '/api/v1/me', { as: fan, body: { email: 'e@example.hr', name: null, locale: 'hr' } });
    expect(statusAndCode(await transfers.accept(id, fan))).toBe('409 INVALID_STATE');
  });
});

describe('the limit', () => {
  test('is checked at the acceptance, and a refused acceptance changes nothing', async () => {
    const match = await onSale(2);
    const giver = await transfers.buyer(match, 2);
    const fanAtLimit = await transfers.buyer(match, 2);
    const id = await transfers.offered(giver.tickets[0], giver.fan, fanAtLimit.fan);
    const { status, json } = await transfers.accept(id, fanAtLimit.fan);
    expect([status, json.code, json.limit, json.rest]).toEqual([409, 'TICKET_LIMIT_REACHED', 2, 0]);
    expect((await transfers.tickets(giver.fan)).map((ticket) => ticket.status)).toEqual(['valid', 'valid']);
    expect((await transfers.transfers(fanAtLimit.fan))[0]?.status).toBe('offered');
  });

  test('counts a ticket for the receiver from the acceptance on, and for the giver for ever', async () => {
    const match = await onSale(2);
    const { fan, tickets } = await transfers.buyer(match, 2);
    const receiver = await transfers.fan();
    for (const ticket of tickets) await transfers.give(ticket, fan, receiver);
    expect([await limitOf(match, receiver), await limitOf(match, fan)]).toEqual([
      '409 TICKET_LIMIT_REACHED',
      '409 TICKET_LIMIT_REACHED',
    ]);
    await expectInvariantsHold(match);
  });

  test('counts a ticket that comes back once, so that a fan at the limit can take it back', async () => {
    const match = await onSale(1);
    const { fan, tickets } = await transfers.buyer(match, 1);
    const friend = await transfers.fan();
    await transfers.give(tickets[0], fan, friend);
    const [received] = await transfers.tickets(friend);
    await transfers.give(received!, friend, fan);
    expect((await transfers.tickets(fan)).map((ticket) => ticket.status)).toEqual(['valid', 'transferred']);
    expect([await limitOf(match, friend), await limitOf(match, fan)]).toEqual([
      '409 TICKET_LIMIT_REACHED',
      '409 TICKET_LIMIT_REACHED',
    ]);
    await expectInvariantsHold(match);
  });

  test('counts a refunded ticket for nobody who ever had it', async () => {
    const match = await onSale(1);
    const { fan, tickets } = await transfers.buyer(match, 1);
    const [first, second] = [await transfers.fan(), await transfers.fan()];
    await transfers.give(tickets[0], fan, first);
    await transfers.give((await transfers.tickets(first))[0]!, first, second);
    const { order_id } = tickets[0];
    await office.monolith.call('POST', `/api/v1/ops/orders/${order_id}/refund`, { ...ops, body: {} });
    for (const each of [fan, first, second]) expect(await limitOf(match, each)).toBe('201');
    await expectInvariantsHold(match);
  });

  test('counts the seats that the receiver holds', async () => {
    const match = await onSale(2);
    const { fan, tickets } = await transfers.buyer(match, 1);
    const receiver = await transfers.fan();
    await office.held(match, { as: receiver, quantity: 2 });
    const id = await transfers.offered(tickets[0], fan, receiver);
    expect(statusAndCode(await transfers.accept(id, receiver))).toBe('409 TICKET_LIMIT_REACHED');
  });
});

test('a repeated acceptance by the same fan changes nothing: with the key a replay, without it the same answer', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const receiver = await transfers.fan();
  const id = await transfers.offered(tickets[0], fan, receiver);
  const key = newKey();
  const first = await transfers.accept(id, receiver, { key });
  const replayed = await transfers.accept(id, receiver, { key });
  const again = await transfers.accept(id, receiver);
  expect([replayed.status, replayed.text, replayed.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
  expect([again.status, again.json]).toEqual([200, first.json]);
  expect(await transfers.tickets(receiver)).toHaveLength(1);
});

test('verify finds no broken invariant after transfers in both directions', async () => {
  const match = await onSale();
  const { fan, tickets } = await transfers.buyer(match, 2);
  const receiver = await transfers.fan();
  for (const ticket of tickets) await transfers.give(ticket, fan, receiver);
  const [back] = await transfers.tickets(receiver);
  await transfers.give(back!, receiver, fan);
  await expectInvariantsHold(match);
});

test('two fans who give tickets to each other at once both succeed', async () => {
  const match = await onSale();
  const [first, second] = [await transfers.buyer(match, 1), await transfers.buyer(match, 1)];
  const [there, back] = [
    await transfers.offered(first.tickets[0], first.fan, second.fan),
    await transfers.offered(second.tickets[0], second.fan, first.fan),
  ];
  const answers = await Promise.all([transfers.accept(there, second.fan), transfers.accept(back, first.fan)]);
  expect(answers.map(statusAndCode)).toEqual(['200', '200']);
});

test('an acceptance is refused with TRANSFERS_LOCKED while transfers are locked, and works again afterwards', async () => {
  const match = await onSale();
  const { fan, tickets } = await transfers.buyer(match);
  const receiver = await transfers.fan();
  const id = await transfers.offered(tickets[0], fan, receiver);
  const set = (value: string) =>
    office.monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body: { transfers: value } });
  await set('locked');
  expect(statusAndCode(await transfers.accept(id, receiver))).toBe('409 TRANSFERS_LOCKED');
  await set('allowed');
  expect(statusAndCode(await transfers.accept(id, receiver))).toBe('200');
});

test('the owner gets the ticket as an inline PDF that must not be cached', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale(), 1);
  const pdf = await office.monolith.app.inject({
    method: 'GET',
    url: `/api/v1/tickets/${tickets[0].id}/ticket.pdf`,
    headers: { 'x-mock-user-id': fan },
  });
  expect([pdf.headers['content-type'], pdf.headers['cache-control']]).toEqual(['application/pdf', 'no-store']);
  expect(pdf.headers['content-disposition']).toBe(`inline; filename="ticket-${tickets[0].id}.pdf"`);
  expect(pdf.rawPayload.subarray(0, 8).toString('latin1')).toBe('%PDF-1.4');
});

test('an unknown body field and a name that is no name are 400', async () => {
  const { fan, tickets } = await transfers.buyer(await onSale());
  const receiver = await transfers.fan();
  const id = await transfers.offered(tickets[0], fan, receiver);
  for (const body of [{ holder: 'Iva' }, { holder_name: '' }, { holder_name: 7 }]) {
    const answer = await office.monolith.call('POST', `/api/v1/transfers/${id}/accept`, { as: receiver, body });
    expect(answer.json.code).toBe('VALIDATION_FAILED');
  }
  expect((await transfers.accept(randomUUID(), receiver)).json.code).toBe('NOT_FOUND');
});
