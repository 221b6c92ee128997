import { quotaPlacesContract } from './quota-places-api.contract.ts';
import { SimulatedPurchase } from './simulated-purchase.ts';

quotaPlacesContract(() => new SimulatedPurchase());
