import { ordersContract } from './orders.contract.ts';
import { paymentInboxContract } from './payment-inbox.contract.ts';
import { SimulatedPurchase } from './simulated-purchase.ts';

ordersContract(() => new SimulatedPurchase());
paymentInboxContract(() => new SimulatedPurchase());
