import { matchesForSaleContract } from './matches-for-sale.contract.ts';
import { sectorReaderContract } from './sector-reader.contract.ts';
import { SimulatedPurchase } from './simulated-purchase.ts';

matchesForSaleContract(() => new SimulatedPurchase());
sectorReaderContract(() => new SimulatedPurchase());
