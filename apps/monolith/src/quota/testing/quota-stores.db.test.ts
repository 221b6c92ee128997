import { PostgresPurchase } from '../../purchase/testing/postgres-purchase.ts';
import { quotaStoresContract } from './quota-stores.contract.ts';
import { postgresQuotaStores } from './quota-stores-setup.ts';

let purchase: PostgresPurchase;
beforeAll(async () => void (purchase = await PostgresPurchase.open()));
afterAll(() => purchase.close());

quotaStoresContract(() => postgresQuotaStores(purchase));
