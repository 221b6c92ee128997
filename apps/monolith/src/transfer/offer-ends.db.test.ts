import { TransactionManager } from '#application/transaction-manager';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { statusAndCode, TransferOffice } from '../purchase/testing/transfer-office.ts';
import { PostgresTickets } from '../ticketing/postgres-tickets.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { verifyDatabase } from '../cli/verify/verify-database.ts';
import { EndOffers } from './end-offers.ts';

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

const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
const onSale = (): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { kickoff_at: hoursFromNow(240), sectors: [seated('East A')] });
const endDue = (): Promise<number> => office.monolith.get(EndOffers).expireDue();
const storedStatus = async (offerId: string): Promise<string | undefined> =>
  (await office.rows<{ status: string }>(`select status from transfer_offers where id = $1`, [offerId]))[0]?.status;

interface Offered {
  readonly match: MatchOnSale;
  readonly id: string;
  readonly fan: string;
  readonly receiver: string;
  readonly ticket: { readonly id: string; readonly order_id: string; readonly code: string };
}

async function offered(): Promise<Offered> {
  const match = await onSale();
  const { fan, tickets } = await transfers.buyer(match);
  const receiver = await transfers.fan();
  return { match, fan, receiver, ticket: tickets[0], id: await transfers.offered(tickets[0], fan, receiver) };
}

/** Expects that the offer has ended for both fans and cannot be accepted, that the ticket is in this state, and that verify is content. */
async function expectEnded(offer: Offered, status: string, ticketStatus = 'valid'): Promise<void> {
  for (const fan of [offer.fan, offer.receiver])
    expect((await transfers.transfers(fan))[0]).toMatchObject({ id: offer.id, status, ended_at: expect.any(String) });
  const { status: http, json } = await transfers.accept(offer.id, offer.receiver);
  expect([http, json.code, json.transfer_status]).toEqual([409, 'INVALID_STATE', status]);
  expect((await transfers.tickets(offer.fan)).map((ticket) => ticket.status)).toEqual([ticketStatus]);
  expect(await transfers.tickets(offer.receiver)).toEqual([]);
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: offer.match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
}

test('an offer that its receiver declines has ended; declining again gets the same answer, and the ticket can be offered again', async () => {
  const offer = await offered();
  const declined = await transfers.decline(offer.id, offer.receiver);
  expect([declined.status, declined.json.status]).toEqual([200, 'declined']);
  expect((await transfers.decline(offer.id, offer.receiver)).json).toEqual(declined.json);
  await expectEnded(offer, 'declined');
  expect(statusAndCode(await transfers.offer(offer.ticket, offer.fan, offer.receiver))).toBe('202');
});

test('an offer that its giver withdraws has ended; withdrawing again is 204, and so is withdrawing one that was declined', async () => {
  const [offer, other] = [await offered(), await offered()];
  expect([
    (await transfers.withdraw(offer.id, offer.fan)).status,
    (await transfers.withdraw(offer.id, offer.fan)).status,
  ]).toEqual([204, 204]);
  await expectEnded(offer, 'withdrawn');
  expect(statusAndCode(await transfers.decline(offer.id, offer.receiver))).toBe('409 INVALID_STATE');
  await transfers.decline(other.id, other.receiver);
  expect((await transfers.withdraw(other.id, other.fan)).status).toBe(204);
  await expectEnded(other, 'declined');
});

test('an accepted offer can be neither withdrawn nor declined', async () => {
  const { id, fan, receiver } = await offered();
  await transfers.accept(id, receiver);
  for (const answer of [await transfers.withdraw(id, fan), await transfers.decline(id, receiver)])
    expect([answer.json.code, answer.json.transfer_status]).toEqual(['INVALID_STATE', 'accepted']);
});

test('the receiver cannot withdraw, and the giver can neither accept nor decline', async () => {
  const { id, fan, receiver } = await offered();
  const answers = [await transfers.withdraw(id, receiver), await transfers.accept(id, fan), await transfers.decline(id, fan)];
  expect(answers.map(statusAndCode)).toEqual(['404 NOT_FOUND', '404 NOT_FOUND', '404 NOT_FOUND']);
});

test('an offer whose time is over is expired for everybody before the task has run, and the ticket can be offered again', async () => {
  const offer = await offered();
  await transfers.lapse(offer.id);
  expect(await storedStatus(offer.id)).toBe('offered');
  await expectEnded(offer, 'expired');
  expect(statusAndCode(await transfers.decline(offer.id, offer.receiver))).toBe('409 INVALID_STATE');
  expect((await transfers.withdraw(offer.id, offer.fan)).status).toBe(204);
  expect(statusAndCode(await transfers.offer(offer.ticket, offer.fan, offer.receiver))).toBe('202');
  expect(await storedStatus(offer.id)).toBe('expired');
});

test('the task ends each offer whose time is over once, also if three replicas run it at the same time', async () => {
  await endDue();
  const [over, open] = [await offered(), await offered()];
  await transfers.lapse(over.id);
  const ended = await Promise.all([endDue(), endDue(), endDue()]);
  expect(ended.reduce((sum, n) => sum + n, 0)).toBe(1);
  expect([await storedStatus(over.id), await storedStatus(open.id), await endDue()]).toEqual(['expired', 'offered', 0]);
  await expectEnded(over, 'expired');
});

test('an offer ends at an earlier kick-off; if the kick-off moves to later, it still ends after 72 hours', async () => {
  const offer = await offered();
  const move = (kickoff_at: string) =>
    office.monolith.call('PATCH', `/api/v1/ops/matches/${offer.match.id}`, { ...ops, body: { kickoff_at } });
  const hoursLeft = async (): Promise<number> =>
    Math.round((Date.parse((await transfers.transfers(offer.fan))[0].expires_at) - Date.now()) / HOUR_MS);
  await move(hoursFromNow(5));
  expect(await hoursLeft()).toBe(5);
  await move(hoursFromNow(500));
  expect(await hoursLeft()).toBe(72);
  await move(hoursFromNow(-1));
  await expectEnded(offer, 'expired');
});

test('the cancellation of a match withdraws its offers', async () => {
  const [offer, ofAnotherMatch] = [await offered(), await offered()];
  await office.monolith.call('POST', `/api/v1/ops/matches/${offer.match.id}/cancel`, { ...ops, body: { reason: 'Snow' } });
  await expectEnded(offer, 'withdrawn');
  expect((await transfers.transfers(ofAnotherMatch.fan))[0].status).toBe('offered');
});

test('a refund of the ticket withdraws its offer', async () => {
  const offer = await offered();
  const url = `/api/v1/ops/orders/${offer.ticket.order_id}/refund`;
  expect((await office.monolith.call('POST', url, { ...ops, body: {} })).status).toBe(200);
  await expectEnded(offer, 'withdrawn', 'refunded');
});

test('a ticket that a gate admits is no longer offered', async () => {
  const offer = await offered();
  const tickets = office.monolith.get(PostgresTickets);
  await office.monolith.get(TransactionManager).run((tx) => tickets.use(tx, offer.ticket.id));
  await expectEnded(offer, 'withdrawn', 'used');
});

test('an operator’s lock keeps open offers: they can be declined and withdrawn, and their time goes on', async () => {
  const [declined, withdrawn] = [await offered(), await offered()];
  for (const { match } of [declined, withdrawn])
    await office.monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body: { transfers: 'locked' } });
  expect((await transfers.decline(declined.id, declined.receiver)).json.status).toBe('declined');
  expect((await transfers.withdraw(withdrawn.id, withdrawn.fan)).status).toBe(204);
});
