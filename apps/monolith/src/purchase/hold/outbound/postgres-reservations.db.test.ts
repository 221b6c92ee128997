import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { reservationExpiryContract } from '../../testing/reservation-expiry.contract.ts';
import { reservationsContract } from '../../testing/reservations.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

reservationsContract(() => purchase);
reservationExpiryContract(() => purchase);
