import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { paymentInboxContract } from '../../testing/payment-inbox.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

paymentInboxContract(() => purchase);
