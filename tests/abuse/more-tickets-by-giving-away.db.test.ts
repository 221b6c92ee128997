import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { putOnSale, seated } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: a fan with one account and a limit of four buys four tickets, gives them to friends, and buys four more. The four
 * tickets of a fan are meant to be four, so tickets that were given away still count for the fan who bought them.
 */
let opened: OpenBoxOffice;
let office: BoxOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
afterAll(() => opened.close());

/** Gives every valid ticket of the fan to a new friend, who accepts it. Returns how many friends have one now. */
async function giveAll(fan: string): Promise<number> {
  const { items } = (await office.monolith.call('GET', '/api/v1/tickets?limit=100', { as: fan })).json;
  let given = 0;
  for (const { id, status } of items as { id: string; status: string }[]) {
    if (status !== 'valid') continue;
    const friend = randomUUID();
    await office.monolith.call('PUT', '/api/v1/me', { as: friend, body: { email: null, name: null, locale: 'hr' } });
    const body = { to_user_id: friend, holder_name: 'Barbara' };
    const offer = await office.monolith.call('POST', `/api/v1/tickets/${id}/transfer`, { as: fan, body });
    if (offer.status === 202) await office.monolith.call('POST', `/api/v1/transfers/${offer.json.id}/accept`, { as: friend });
    const tickets = (await office.monolith.call('GET', '/api/v1/tickets', { as: friend })).json.items;
    given += tickets.length;
  }
  return given;
}

test('a fan who has given all four tickets away cannot buy a fifth one at a limit of four', async () => {
  const match = await putOnSale(office.monolith, { max_tickets_per_fan: 4, sectors: [seated('East A')] });
  const fan = randomUUID();
  const buyFour = async (): Promise<number> => {
    const held = await office.hold(match, { as: fan, quantity: 4 });
    if (held.status !== 201) return 0;
    const seatIds = held.json.seats.map(({ seat_id }: { seat_id: string }) => seat_id);
    await office.settle(office.report(await office.ordered({ ...held.json, userId: fan, seatIds })));
    return 4;
  };
  expect(await buyFour()).toBe(4);
  expect(await giveAll(fan)).toBe(4);
  expect({ bought: 4 + (await buyFour()) }).toEqual({ bought: 4 });
  expect((await office.hold(match, { as: fan })).json).toMatchObject({ code: 'TICKET_LIMIT_REACHED', limit: 4, rest: 0 });
});
