import { putOnSale, seated } from '../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from './testing/box-office.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  // The first ticket takes its time: a payment that began while the hold was alive ends when it is over.
  await office.rows(`create sequence naps`);
  await office.rows(`create function nap() returns trigger language plpgsql as
    'begin if nextval(''naps'') = 1 then perform pg_sleep(1.2); end if; return new; end'`);
  await office.rows(`create trigger nap before insert on tickets for each row execute function nap()`);
});
afterAll(() => opened.close());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a hold that ends while it is being paid still counts when its fan wants more that moment', async () => {
  const match = await putOnSale(office.monolith, { max_tickets_per_fan: 2, sectors: [seated('East A', 2, 10)] });
  const held = await office.held(match, { quantity: 2 });
  const ordered = await office.ordered(held);
  const ends = `now() + interval '500 milliseconds'`;
  await office.rows(`update seats set expires_at = ${ends} where reservation_id = $1`, [held.id]);
  await office.rows(`update reservations set expires_at = ${ends} where id = $1`, [held.id]);
  const settling = office.settle(office.news(ordered));
  await pause(700);
  const more = await office.hold(match, { as: held.userId, quantity: 2 });
  expect([await settling, more.status, more.json.code]).toEqual(['completed', 409, 'TICKET_LIMIT_REACHED']);
  expect(await office.seatRows(match)).toEqual({ sold: 2, available: 18 });
});
