import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { ordersContract } from '../../testing/orders.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

ordersContract(() => purchase);
