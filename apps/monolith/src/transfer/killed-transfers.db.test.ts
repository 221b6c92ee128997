import { TransactionManager } from '#application/transaction-manager';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { verifyDatabase } from '../cli/verify/verify-database.ts';
import { openBoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { TransferOffice } from '../purchase/testing/transfer-office.ts';
import { killedAtEachStep } from '../testing/dying-transactions.ts';
import { putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { TicketOffers } from '../ticketing/ticket-offers.api.ts';
import { TicketingApi } from '../ticketing/ticketing.api.ts';
import { AcceptanceMessages } from './acceptance-messages.ts';
import { AcceptOffer } from './accept-offer.ts';
import { EndOffers } from './end-offers.ts';
import { KnownFans } from './known-fans.ts';
import { OfferMessages } from './offer-messages.ts';
import { OfferTicket } from './offer-ticket.ts';
import { Receivers } from './receivers.ts';

let opened: OpenBoxOffice;
let transfers: TransferOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  transfers = new TransferOffice(opened.office);
  match = await putOnSale(opened.office.monolith, { sectors: [seated('East A')] });
});
afterAll(() => opened.close());

const get: TransferOffice['office']['monolith']['get'] = (token) => opened.office.monolith.get(token);
const offering = (transactions: TransactionManager) =>
  new OfferTicket(transactions, get(TicketingApi), get(TicketOffers), get(CatalogApi), get(KnownFans), get(OfferMessages));
const accepting = (transactions: TransactionManager) =>
  new AcceptOffer(transactions, get(TicketingApi), get(TicketOffers), get(CatalogApi), get(Receivers), get(AcceptanceMessages));
const ending = (transactions: TransactionManager) =>
  new EndOffers(transactions, get(TicketOffers), get(CatalogApi), get(OfferMessages));

/** The traces of an offer: its status, who has a valid ticket, how much counts for the receiver, and how many messages there are. */
async function tracesOf(giver: string, receiver: string) {
  const rows = <T>(sql: string) => opened.office.rows<T>(sql, [giver, receiver]);
  const valid = await rows<{ user_id: string }>(`select user_id from tickets where user_id in ($1, $2) and status = 'valid'`);
  const [counted] = await rows<{ n: number }>(
    `select coalesce(sum(received), 0)::int as n from fan_seats where user_id in ($1, $2)`,
  );
  const offers = await rows<{ id: string; status: string }>(
    `select id, status from transfer_offers where from_user_id = $1 and to_user_id = $2`,
  );
  const messages = (await Promise.all(offers.map(({ id }) => transfers.messages(id)))).flat();
  const { invariants } = await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id });
  return {
    offers: offers.map(({ status }) => status),
    owners: valid.map(({ user_id }) => (user_id === giver ? 'giver' : 'receiver')),
    counted: counted?.n,
    messages: messages.length,
    faults: invariants.flatMap(({ rows: found }) => found),
  };
}

/** Runs the action in processes that die one step later each time. Expects nothing of it before the commit, and all of it afterwards. */
async function expectAllOrNothing(
  action: (transactions: TransactionManager) => Promise<unknown>,
  traces: () => Promise<unknown>,
  steps: number,
): Promise<void> {
  const none = await traces();
  const atDeath: unknown[] = [];
  const deaths = await killedAtEachStep(get(TransactionManager), action, async () => void atDeath.push(await traces()));
  const done = await traces();
  expect(deaths).toBeGreaterThanOrEqual(steps);
  expect(done).not.toEqual(none);
  // The process that was killed last had committed already.
  expect(atDeath).toEqual([...Array.from({ length: deaths - 1 }, () => none), done]);
}

test('a process that dies at any step of an offer has made it with its mail, or has made nothing', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  const receiver = await transfers.fan({ email: 'b@example.hr' });
  const command = {
    ...{ ticketId: tickets[0].id, giver: { userId: fan, email: null }, holderName: null },
    to: { userId: receiver, email: null },
  };
  const action = (transactions: TransactionManager) =>
    offering(transactions)
      .execute(command)
      .catch((error: Error) => {
        // Sent again after the death that followed the commit.
        if (error.name !== 'INVALID_STATE') throw error;
      });
  await expectAllOrNothing(action, () => tracesOf(fan, receiver), 6);
  expect((await tracesOf(fan, receiver)).offers).toEqual(['offered']);
});

test('a process that dies at any step of an acceptance has transferred the ticket completely, or not at all', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  const receiver = await transfers.fan();
  const offerId = await transfers.offered(tickets[0], fan, receiver);
  const command = { offerId, receiver: { userId: receiver, email: null }, holderName: null };
  await expectAllOrNothing(
    (transactions) => accepting(transactions).execute(command),
    () => tracesOf(fan, receiver),
    9,
  );
  expect(await tracesOf(fan, receiver)).toMatchObject({ offers: ['accepted'], owners: ['receiver'], counted: 1, messages: 1 });
});

test('a process that dies at any step of a declined offer has ended it with the giver’s mail, or not at all', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  const receiver = await transfers.fan();
  const offerId = await transfers.offered(tickets[0], fan, receiver);
  await expectAllOrNothing(
    (transactions) => ending(transactions).decline(offerId, { userId: receiver, email: null }),
    () => tracesOf(fan, receiver),
    4,
  );
  expect(await tracesOf(fan, receiver)).toMatchObject({ offers: ['declined'], owners: ['giver'], messages: 1 });
});

test('a process that dies at any step of the task has ended the offer with the giver’s mail, or not at all', async () => {
  const { fan, tickets } = await transfers.buyer(match);
  const receiver = await transfers.fan();
  await transfers.lapse(await transfers.offered(tickets[0], fan, receiver));
  await expectAllOrNothing(
    (transactions) => ending(transactions).expireDue(),
    () => tracesOf(fan, receiver),
    4,
  );
  expect(await tracesOf(fan, receiver)).toMatchObject({ offers: ['expired'], owners: ['giver'], messages: 1 });
});
