import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { orderConsequencesContract } from '../../testing/order-consequences.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

orderConsequencesContract(() => purchase);
