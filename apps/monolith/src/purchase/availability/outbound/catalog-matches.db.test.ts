import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { matchesForSaleContract } from '../../testing/matches-for-sale.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

matchesForSaleContract(() => purchase);
