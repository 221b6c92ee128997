import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { newKey, type TestAnswer } from '../testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { verifyDatabase } from '../cli/verify/verify-database.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
afterAll(async () => opened.close());

const onSale = (limit = 2): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { max_tickets_per_fan: limit, sectors: [seated('East A')] });

interface Ticket {
  readonly id: string;
  readonly status: string;
  readonly code: string;
  readonly holder_name: string;
  readonly seat: { readonly seat_id: string };
}

async function ticketsOf(fan: string): Promise<Ticket[]> {
  return (await office.monolith.call('GET', '/api/v1/tickets?limit=100', { as: fan })).json.items;
}

/** Creates a fan who has bought this number of tickets. */
async function buyer(match: MatchOnSale, quantity: number): Promise<{ fan: string; tickets: Ticket[] }> {
  const fan = randomUUID();
  const ordered = await office.ordered(await office.held(match, { as: fan, quantity }));
  await office.settle(office.report(ordered));
  return { fan, tickets: await ticketsOf(fan) };
}

function transfer(ticket: Ticket, from: string, to: string, more: { key?: string } = {}): Promise<TestAnswer> {
  const body = { to_user_id: to, holder_name: 'Barbara Barić' };
  return office.monolith.call('POST', `/api/v1/tickets/${ticket.id}/transfer`, { as: from, body, ...more });
}

const statusAndCode = ({ status, json }: TestAnswer): string => (status === 200 ? '200' : `${status} ${json.code}`);

test('after a transfer the giver has a transferred ticket, and the receiver a valid one with another code for the same seat', async () => {
  const { fan, tickets } = await buyer(await onSale(), 2);
  const [given, kept] = tickets as [Ticket, Ticket];
  const receiver = randomUUID();
  const { status, json } = await transfer(given, fan, receiver);
  expect([status, json.id, json.status, json.code]).toEqual([200, given.id, 'transferred', given.code]);
  const [received, ...others] = await ticketsOf(receiver);
  expect([received?.status, received?.holder_name, received?.seat, others]).toEqual(['valid', 'Barbara Barić', given.seat, []]);
  expect(received?.code).not.toBe(given.code);
  const statuses = new Map((await ticketsOf(fan)).map((ticket) => [ticket.id, ticket.status]));
  expect([statuses.get(given.id), statuses.get(kept.id)]).toEqual(['transferred', 'valid']);
  for (const file of ['qr.svg', 'ticket.pdf']) {
    const old = await office.monolith.call('GET', `/api/v1/tickets/${given.id}/${file}`, { as: fan });
    const own = await office.monolith.call('GET', `/api/v1/tickets/${received?.id}/${file}`, { as: receiver });
    const foreign = await office.monolith.call('GET', `/api/v1/tickets/${received?.id}/${file}`, { as: fan });
    expect([old.json.code, own.status, foreign.status]).toEqual(['INVALID_STATE', 200, 404]);
  }
});

test('verifyDatabase finds no broken invariant after transfers in both directions', async () => {
  const match = await onSale();
  const { fan, tickets } = await buyer(match, 2);
  const receiver = randomUUID();
  for (const ticket of tickets) expect((await transfer(ticket, fan, receiver)).status).toBe(200);
  const [back] = await ticketsOf(receiver);
  if (back) expect((await transfer(back, receiver, fan)).status).toBe(200);
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
});

test('a transferred ticket counts towards the receiver’s limit and no longer towards the giver’s', async () => {
  const match = await onSale(2);
  const giver = await buyer(match, 2);
  const fanAtLimit = await buyer(match, 2);
  const [first, second] = giver.tickets as [Ticket, Ticket];
  expect((await transfer(first, giver.fan, fanAtLimit.fan)).json).toMatchObject({
    status: 409,
    code: 'TICKET_LIMIT_REACHED',
    limit: 2,
    rest: 0,
  });
  expect((await ticketsOf(giver.fan)).map(({ status }) => status)).toEqual(['valid', 'valid']);
  const receiver = randomUUID();
  await transfer(first, giver.fan, receiver);
  await transfer(second, giver.fan, receiver);
  expect((await office.hold(match, { as: receiver })).json.code).toBe('TICKET_LIMIT_REACHED');
  expect((await office.hold(match, { as: giver.fan, quantity: 2 })).status).toBe(201);
  expect((await office.hold(match, { as: giver.fan })).json.code).toBe('TICKET_LIMIT_REACHED');
});

test('the seats that the receiver holds count towards the limit at a transfer', async () => {
  const match = await onSale(2);
  const giver = await buyer(match, 1);
  const receiver = randomUUID();
  await office.held(match, { as: receiver, quantity: 2 });
  expect((await transfer(giver.tickets[0] as Ticket, giver.fan, receiver)).json.code).toBe('TICKET_LIMIT_REACHED');
});

test('when two fans transfer to a receiver who may have one more ticket, exactly one of them succeeds', async () => {
  const match = await onSale(1);
  const givers = [await buyer(match, 1), await buyer(match, 1)];
  const receiver = randomUUID();
  const answers = await Promise.all(givers.map(({ fan, tickets }) => transfer(tickets[0] as Ticket, fan, receiver)));
  expect(answers.map(statusAndCode).sort()).toEqual(['200', '409 TICKET_LIMIT_REACHED']);
  expect(await ticketsOf(receiver)).toHaveLength(1);
});

test('a ticket that is transferred to two fans at once goes to exactly one of them', async () => {
  const { fan, tickets } = await buyer(await onSale(), 1);
  const [ticket] = tickets as [Ticket];
  const receivers = [randomUUID(), randomUUID()];
  const answers = await Promise.all(receivers.map((receiver) => transfer(ticket, fan, receiver)));
  expect(answers.map(statusAndCode).sort()).toEqual(['200', '409 INVALID_STATE']);
  const received = await Promise.all(receivers.map(ticketsOf));
  expect(received.flat()).toHaveLength(1);
});

test('when two fans transfer tickets to each other at once, both succeed', async () => {
  const match = await onSale();
  const [first, second] = [await buyer(match, 1), await buyer(match, 1)];
  const answers = await Promise.all([
    transfer(first.tickets[0] as Ticket, first.fan, second.fan),
    transfer(second.tickets[0] as Ticket, second.fan, first.fan),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test('a repeated idempotency key transfers the ticket once and gets the same answer', async () => {
  const { fan, tickets } = await buyer(await onSale(), 1);
  const key = newKey();
  const receiver = randomUUID();
  const first = await transfer(tickets[0] as Ticket, fan, receiver, { key });
  const again = await transfer(tickets[0] as Ticket, fan, receiver, { key });
  expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
  expect(await ticketsOf(receiver)).toHaveLength(1);
});

test.each([
  ['to oneself', 'INVALID_STATE'],
  ['of a ticket of another fan', 'NOT_FOUND'],
])('a transfer %s is refused with %s', async (what, code) => {
  const { fan, tickets } = await buyer(await onSale(), 1);
  const from = what === 'to oneself' ? fan : randomUUID();
  expect((await transfer(tickets[0] as Ticket, from, fan)).json.code).toBe(code);
});

test('the owner gets the ticket as an inline PDF that must not be cached', async () => {
  const { fan, tickets } = await buyer(await onSale(), 1);
  const pdf = await office.monolith.app.inject({
    method: 'GET',
    url: `/api/v1/tickets/${tickets[0]?.id}/ticket.pdf`,
    headers: { 'x-mock-user-id': fan },
  });
  expect([pdf.headers['content-type'], pdf.headers['cache-control']]).toEqual(['application/pdf', 'no-store']);
  expect(pdf.headers['content-disposition']).toBe(`inline; filename="ticket-${tickets[0]?.id}.pdf"`);
  expect(pdf.rawPayload.subarray(0, 8).toString('latin1')).toBe('%PDF-1.4');
});
