import { whileTransactionIsOpen } from '#platform/postgres/open-transaction';
import { randomUUID } from 'node:crypto';
import type { PaymentProvider } from '../application/ports.ts';

interface ProviderUnderTest {
  readonly provider: PaymentProvider;
  /** The fan pays at the provider; false when it takes no money for this intent. */
  pay(intentId: string): Promise<boolean>;
  /** The provider's own books: how much has gone back. */
  returnedCents(intentId: string): Promise<number>;
}

const order = () => ({ orderId: randomUUID(), amountCents: 9000, currency: 'EUR' });

/** What every payment provider promises; run against the sandbox and against Stripe's adapter. */
export function describePaymentProvider(name: string, underTest: () => ProviderUnderTest): void {
  const intentOf = async (paid: boolean): Promise<string> => {
    const { intentId } = await underTest().provider.createIntent(order());
    if (paid) expect(await underTest().pay(intentId)).toBe(true);
    return intentId;
  };

  describe(`${name} as a payment provider`, () => {
    test('the same order has the same intent, also when asked twice at once', async () => {
      const { provider } = underTest();
      const same = order();
      const intents = [await provider.createIntent(same), ...(await Promise.all([1, 2].map(() => provider.createIntent(same))))];
      const another = await provider.createIntent(order());
      expect(new Set(intents.map(({ intentId }) => intentId)).size).toBe(1);
      expect(new Set(intents.map(({ clientSecret }) => clientSecret)).size).toBe(1);
      expect(another.intentId).not.toBe(intents[0]?.intentId);
    });

    test('the same order over another amount is refused', async () => {
      const { provider } = underTest();
      const same = order();
      await provider.createIntent(same);
      await expect(provider.createIntent({ ...same, amountCents: 1 })).rejects.toThrow(
        expect.objectContaining({ name: 'ProviderRefused' }),
      );
    });

    test('a refund asked for three times gives the money back once', async () => {
      const intentId = await intentOf(true);
      const refund = { intentId, amountCents: 4500, key: `refund:${intentId}` };
      for (let time = 0; time < 3; time += 1) await underTest().provider.refund(refund);
      expect(await underTest().returnedCents(intentId)).toBe(4500);
    });

    test('two refunds with keys of their own give back both parts', async () => {
      const intentId = await intentOf(true);
      for (const key of ['a', 'b']) await underTest().provider.refund({ intentId, amountCents: 4500, key: `${key}:${intentId}` });
      expect(await underTest().returnedCents(intentId)).toBe(9000);
    });

    test('more than was paid is refused and nothing goes back', async () => {
      const intentId = await intentOf(true);
      const refund = underTest().provider.refund({ intentId, amountCents: 9001, key: randomUUID() });
      await expect(refund).rejects.toThrow(expect.objectContaining({ name: 'ProviderRefused' }));
      expect(await underTest().returnedCents(intentId)).toBe(0);
    });

    test('what was never paid cannot be given back', async () => {
      const intentId = await intentOf(false);
      const refund = underTest().provider.refund({ intentId, amountCents: 9000, key: randomUUID() });
      await expect(refund).rejects.toThrow(expect.objectContaining({ name: 'ProviderRefused' }));
    });

    test('a canceled intent takes no money, and may be canceled again', async () => {
      const intentId = await intentOf(false);
      await underTest().provider.cancel(intentId);
      await underTest().provider.cancel(intentId);
      expect(await underTest().pay(intentId)).toBe(false);
    });

    test('canceling a paid intent leaves it paid', async () => {
      const intentId = await intentOf(true);
      await underTest().provider.cancel(intentId);
      await underTest().provider.refund({ intentId, amountCents: 9000, key: randomUUID() });
      expect(await underTest().returnedCents(intentId)).toBe(9000);
    });

    test('an intent nobody knows is refused', async () => {
      const intentId = `pi_${'0'.repeat(24)}`;
      const refused = expect.objectContaining({ name: 'ProviderRefused' });
      await expect(underTest().provider.cancel(intentId)).rejects.toThrow(refused);
      await expect(underTest().provider.refund({ intentId, amountCents: 1, key: randomUUID() })).rejects.toThrow(refused);
    });

    test('nothing of it runs inside a transaction of ours', async () => {
      const { provider } = underTest();
      const intentId = await intentOf(true);
      const calls: (() => Promise<unknown>)[] = [
        () => provider.createIntent(order()),
        () => provider.cancel(intentId),
        () => provider.refund({ intentId, amountCents: 1, key: randomUUID() }),
      ];
      for (const call of calls) await expect(whileTransactionIsOpen(call)).rejects.toThrow(/inside an open transaction/);
    });
  });
}
