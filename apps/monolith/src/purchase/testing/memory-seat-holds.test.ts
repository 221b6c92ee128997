import { seatHoldsContract } from './seat-holds.contract.ts';
import { SimulatedPurchase } from './simulated-purchase.ts';

seatHoldsContract(() => new SimulatedPurchase());
