import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { seatHoldsContract } from '../../testing/seat-holds.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

seatHoldsContract(() => purchase);
