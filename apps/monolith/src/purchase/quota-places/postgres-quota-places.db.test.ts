import { PostgresPurchase } from '../testing/postgres-purchase.ts';
import { quotaPlacesContract } from '../testing/quota-places-api.contract.ts';

let purchase: PostgresPurchase;
beforeAll(async () => void (purchase = await PostgresPurchase.open()));
afterAll(() => purchase.close());

quotaPlacesContract(() => purchase);
