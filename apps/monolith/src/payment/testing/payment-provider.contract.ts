import { whileTransactionIsOpen } from '#platform/postgres/open-transaction';
import { randomUUID } from 'node:crypto';
import type { PaymentProvider } from '../payment-provider.ts';

interface ProviderUnderTest {
  readonly provider: Pick<PaymentProvider, 'createIntent' | 'refund' | 'cancel'>;
  /** Pays the intent as a fan would. Returns false if the provider refuses the payment. */
  pay(intentId: string): Promise<boolean>;
  /** The amount that was refunded, according to the provider. */
  refundedCents(intentId: string): Promise<number>;
  /** Runs a call while a transaction of the caller is open. */
  readonly inTransaction?: (call: () => Promise<unknown>) => Promise<unknown>;
  /** Runs the body of one test. The simulation runs it as a task of its scheduler. */
  readonly play?: (body: () => Promise<void>) => Promise<void>;
}

const order = () => ({ orderId: randomUUID(), amountCents: 9000, currency: 'EUR' });

/**
 * Tests of what every payment provider must do: the sandbox, the Stripe adapter and the provider of the simulation. `refuseNext` makes
 * the provider refuse the next new intent; the sandbox never does.
 */
export function describePaymentProvider(name: string, underTest: () => ProviderUnderTest, refuseNext?: () => void): void {
  const intentOf = async (paid: boolean): Promise<string> => {
    const { intentId } = await underTest().provider.createIntent(order());
    if (paid) expect(await underTest().pay(intentId)).toBe(true);
    return intentId;
  };

  const check = (fact: string, body: () => Promise<void>): void =>
    test(fact, () => {
      const { play = (run) => run() } = underTest();
      return play(body);
    });

  describe(`${name} as a payment provider`, () => {
    check('createIntent returns the same intent for the same order, also when called twice at once', async () => {
      const { provider } = underTest();
      const same = order();
      const intents = [await provider.createIntent(same), ...(await Promise.all([1, 2].map(() => provider.createIntent(same))))];
      const another = await provider.createIntent(order());
      expect(new Set(intents.map(({ intentId }) => intentId)).size).toBe(1);
      expect(new Set(intents.map(({ clientSecret }) => clientSecret)).size).toBe(1);
      expect(another.intentId).not.toBe(intents[0]?.intentId);
    });

    check('createIntent refuses the same order with another amount', async () => {
      const { provider } = underTest();
      const same = order();
      await provider.createIntent(same);
      await expect(provider.createIntent({ ...same, amountCents: 1 })).rejects.toThrow(
        expect.objectContaining({ name: 'ProviderRefused' }),
      );
    });

    if (refuseNext) {
      check('a refused payment rejects with PAYMENT_REFUSED, and a later call for the same order may succeed', async () => {
        const { provider } = underTest();
        const same = order();
        refuseNext();
        await expect(provider.createIntent(same)).rejects.toThrow(expect.objectContaining({ code: 'PAYMENT_REFUSED' }));
        expect((await provider.createIntent(same)).intentId).not.toBe('');
      });
    }

    check('a refund repeated three times with one key refunds the money once', async () => {
      const intentId = await intentOf(true);
      const refund = { intentId, amountCents: 4500, key: `refund:${intentId}` };
      for (let time = 0; time < 3; time += 1) await underTest().provider.refund(refund);
      expect(await underTest().refundedCents(intentId)).toBe(4500);
    });

    check('two refunds with different keys refund both amounts', async () => {
      const intentId = await intentOf(true);
      for (const key of ['a', 'b']) await underTest().provider.refund({ intentId, amountCents: 4500, key: `${key}:${intentId}` });
      expect(await underTest().refundedCents(intentId)).toBe(9000);
    });

    check('a refund of more than was paid is refused and refunds nothing', async () => {
      const intentId = await intentOf(true);
      const refund = underTest().provider.refund({ intentId, amountCents: 9001, key: randomUUID() });
      await expect(refund).rejects.toThrow(expect.objectContaining({ name: 'ProviderRefused' }));
      expect(await underTest().refundedCents(intentId)).toBe(0);
    });

    check('a refund of an unpaid intent is refused', async () => {
      const intentId = await intentOf(false);
      const refund = underTest().provider.refund({ intentId, amountCents: 9000, key: randomUUID() });
      await expect(refund).rejects.toThrow(expect.objectContaining({ name: 'ProviderRefused' }));
    });

    check('a canceled intent cannot be paid and may be canceled again', async () => {
      const intentId = await intentOf(false);
      await underTest().provider.cancel(intentId);
      await underTest().provider.cancel(intentId);
      expect(await underTest().pay(intentId)).toBe(false);
    });

    check('canceling a paid intent leaves it paid', async () => {
      const intentId = await intentOf(true);
      await underTest().provider.cancel(intentId);
      await underTest().provider.refund({ intentId, amountCents: 9000, key: randomUUID() });
      expect(await underTest().refundedCents(intentId)).toBe(9000);
    });

    check('cancel and refund refuse an unknown intent', async () => {
      const intentId = `pi_${'0'.repeat(24)}`;
      const refused = expect.objectContaining({ name: 'ProviderRefused' });
      await expect(underTest().provider.cancel(intentId)).rejects.toThrow(refused);
      await expect(underTest().provider.refund({ intentId, amountCents: 1, key: randomUUID() })).rejects.toThrow(refused);
    });

    check('every call throws inside an open transaction', async () => {
      const { provider, inTransaction = whileTransactionIsOpen } = underTest();
      const intentId = await intentOf(true);
      const calls: (() => Promise<unknown>)[] = [
        () => provider.createIntent(order()),
        () => provider.cancel(intentId),
        () => provider.refund({ intentId, amountCents: 1, key: randomUUID() }),
      ];
      for (const call of calls) await expect(inTransaction(call)).rejects.toThrow(/inside an open transaction/);
    });
  });
}
