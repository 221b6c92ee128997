import { randomUUID } from 'node:crypto';
import type { PaymentReport } from '../settlement/application/ports.ts';
import { contractTests, type PurchaseSetup } from './purchase-setup.ts';

const event = (): PaymentReport => ({
  ...{ eventId: `evt_${randomUUID()}`, type: 'payment_intent.succeeded', intentId: undefined, amountCents: undefined },
  outcome: 'succeeded',
  currency: undefined,
});

/** The tests that every `PaymentInbox` must pass. */
export function paymentInboxContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);
  const remember = (p: PurchaseSetup, given: PaymentReport) => p.inTransaction((tx) => p.inbox.remember(tx, given));
  const rememberNew = (p: PurchaseSetup, ...given: PaymentReport[]) => p.inTransaction((tx) => p.inbox.rememberNew(tx, given));

  check('an event is new once', async (p) => {
    const [first, other] = [event(), event()];
    expect([await remember(p, first), await remember(p, first), await remember(p, other)]).toEqual([true, false, true]);
  });

  check('an event of a transaction that was rolled back is new again', async (p) => {
    const first = event();
    const rolledBack = p.inTransaction(async (tx) => {
      expect(await p.inbox.remember(tx, first)).toBe(true);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await remember(p, first)).toBe(true);
  });

  check('new events of a batch are recorded together', async (p) => {
    const events = [event(), event()];
    await rememberNew(p, ...events);
    for (const given of events) expect(await remember(p, given)).toBe(false);
  });

  check('if one event of a batch is not new, the transaction fails and none of its events is recorded', async (p) => {
    const [known, other] = [event(), event()];
    await remember(p, known);
    await expect(rememberNew(p, other, known)).rejects.toMatchObject({ code: '23505' });
    expect(await remember(p, other)).toBe(true);
  });
}
