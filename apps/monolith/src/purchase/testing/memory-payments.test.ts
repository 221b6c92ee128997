import { describePaymentProvider } from '../../payment/testing/payment-provider.contract.ts';
import { orderConsequencesContract } from './order-consequences.contract.ts';
import { SimulatedPurchase } from './simulated-purchase.ts';

let purchase: SimulatedPurchase;

beforeEach(() => {
  purchase = new SimulatedPurchase();
});

describePaymentProvider(
  'The simulation',
  () => {
    const { payments } = purchase;
    return {
      provider: payments,
      pay: (intentId) => Promise.resolve(payments.pay(intentId) !== undefined),
      refundedCents: (intentId) => {
        const refunds = [...(payments.intents.get(intentId)?.refunds.values() ?? [])];
        return Promise.resolve(refunds.reduce((sum, cents) => sum + cents, 0));
      },
      inTransaction: (call) => purchase.inTransaction(call),
      play: (body) => purchase.play(body),
    };
  },
  () => {
    purchase.refusesPayments = 1;
  },
);

orderConsequencesContract(() => purchase);
