import { reservationExpiryContract } from './reservation-expiry.contract.ts';
import { reservationsContract } from './reservations.contract.ts';
import { SimulatedPurchase } from './simulated-purchase.ts';

reservationsContract(() => new SimulatedPurchase());
reservationExpiryContract(() => new SimulatedPurchase());
