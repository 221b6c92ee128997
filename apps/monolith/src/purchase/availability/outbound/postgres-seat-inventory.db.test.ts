import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { sectorReaderContract } from '../../testing/sector-reader.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

sectorReaderContract(() => purchase);
