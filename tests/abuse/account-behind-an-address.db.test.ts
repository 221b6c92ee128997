import { openBoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { TransferOffice } from '../../apps/monolith/src/purchase/testing/transfer-office.ts';
import { putOnSale, seated } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: an attacker offers a ticket to addresses, to learn which of them belong to fans, what these fans have bought, and who
 * is on the blacklist. So the answer must be the same for all of them, and so must what the giver sees afterwards.
 */
let opened: OpenBoxOffice;
let transfers: TransferOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  transfers = new TransferOffice(opened.office);
});
afterAll(() => opened.close());

test('an offer to an address is answered the same if no account has it, if one has it, if that fan is at the limit, and if that fan is blacklisted', async () => {
  const { office } = opened;
  const match = await putOnSale(office.monolith, { max_tickets_per_fan: 4, sectors: [seated('East A')] });
  const atLimit = await transfers.fan({ email: 'at-limit@example.hr' });
  await transfers.buyer(match, 4, atLimit);
  const listed = await transfers.fan({ email: 'listed@example.hr' });
  await office.rows(
    `insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, gen_random_uuid(), 'x', $1, now())`,
    [listed],
  );
  const withPhone = await transfers.fan({ email: 'account@example.hr', locale: 'en' });
  await office.monolith.call('PUT', '/api/v1/me/devices/phone', { as: withPhone, body: { fcm_token: 'token' } });
  const attacker = await transfers.buyer(match, 4);
  const seen: unknown[] = [];
  for (const [index, address] of ['nobody', 'account', 'at-limit', 'listed'].entries()) {
    const to = `${address}@example.hr`;
    const { status, json, headers } = await transfers.offer(attacker.tickets[index]!, attacker.fan, to);
    const [listedOffer] = await transfers.transfers(attacker.fan);
    const messages = (await transfers.messages(json.id)).map(({ destination, body }) => [destination, body.payload.locale]);
    const own = { id: 0, ticket_id: 0, seat: 0, to_email: 0, created_at: 0, expires_at: 0 };
    expect(listedOffer).toEqual(json);
    seen.push({ status, json: { ...json, ...own }, headers: Object.keys(headers).sort(), messages });
  }
  expect(seen).toEqual(Array(4).fill(seen[0]));
  expect(seen[0]).toMatchObject({ status: 202, messages: [['email', 'hr']] });
});
