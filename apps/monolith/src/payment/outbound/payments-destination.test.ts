import { PaymentProvider } from '../application/ports.ts';
import type { PaymentEvent, PaymentIntent } from '../payment.api.ts';
import { PaymentsDestination } from './payments-destination.ts';
import { ProviderAway, ProviderRefused } from './provider-errors.ts';

/** Does what it is told, except for the intents it has an error for. */
class ScriptedProvider extends PaymentProvider {
  readonly done: string[] = [];
  constructor(private readonly errors: Readonly<Record<string, Error>>) {
    super();
  }
  createIntent(): Promise<PaymentIntent> {
    throw new Error('not asked here');
  }
  readWebhook(): PaymentEvent {
    throw new Error('not asked here');
  }
  readEvent(): PaymentEvent {
    throw new Error('not asked here');
  }
  async refund({ intentId, amountCents, key }: { intentId: string; amountCents: number; key: string }): Promise<void> {
    this.act(intentId, `refund ${intentId} ${amountCents} ${key}`);
  }
  async cancel(intentId: string): Promise<void> {
    this.act(intentId, `cancel ${intentId}`);
  }
  private act(intentId: string, what: string): void {
    const error = this.errors[intentId];
    if (error) throw error;
    this.done.push(what);
  }
}

const message = (id: string, body: unknown) => ({ id, event: 'test', body });
const refund = (intentId: string) => message(intentId, { kind: 'refund', intentId, amountCents: 500, key: `refund:${intentId}` });
const errors = {
  pi_away: new ProviderAway('429'),
  pi_stuck: new ProviderAway('500 again', true),
  pi_refused: new ProviderRefused('400'),
  pi_defect: new TypeError('ours'),
};

test('refunds and cancellations are carried out', async () => {
  const provider = new ScriptedProvider(errors);
  const deliveries = await new PaymentsDestination(provider).deliver([
    refund('pi_1'),
    message('2', { kind: 'cancel', intentId: 'pi_2' }),
  ]);
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
  expect(provider.done).toEqual(['refund pi_1 500 refund:pi_1', 'cancel pi_2']);
});

test('each command has its own fate', async () => {
  const ids = ['pi_1', 'pi_away', 'pi_stuck', 'pi_refused', 'pi_defect'];
  const deliveries = await new PaymentsDestination(new ScriptedProvider(errors)).deliver(ids.map(refund));
  expect(deliveries).toEqual([
    { id: 'pi_1', outcome: 'delivered' },
    { id: 'pi_away', outcome: 'failed', error: '429' },
    { id: 'pi_stuck', outcome: 'failed', error: '500 again' },
    { id: 'pi_refused', outcome: 'poison', error: '400' },
    { id: 'pi_defect', outcome: 'failed', error: 'ours' },
  ]);
});

test('an outage counts against no command', async () => {
  const destination = new PaymentsDestination(new ScriptedProvider(errors));
  await expect(destination.deliver([refund('pi_away'), refund('pi_away')])).rejects.toBe(errors.pi_away);
});

test('a command that alone keeps failing is counted, so that it ends', async () => {
  const destination = new PaymentsDestination(new ScriptedProvider(errors));
  expect(await destination.deliver([refund('pi_stuck')])).toMatchObject([{ outcome: 'failed' }]);
});

test.each([
  ['nothing', null],
  ['an unknown command', { kind: 'charge', intentId: 'pi_1' }],
  ['a refund of nothing', { kind: 'refund', intentId: 'pi_1', amountCents: 0, key: 'k' }],
  ['a refund of less than nothing', { kind: 'refund', intentId: 'pi_1', amountCents: -5, key: 'k' }],
  ['a refund of half a cent', { kind: 'refund', intentId: 'pi_1', amountCents: 0.5, key: 'k' }],
  ['a refund without a key', { kind: 'refund', intentId: 'pi_1', amountCents: 5 }],
])('%s is set aside at once and reaches no provider', async (_, body) => {
  const provider = new ScriptedProvider({});
  expect(await new PaymentsDestination(provider).deliver([message('1', body)])).toMatchObject([{ outcome: 'poison' }]);
  expect(provider.done).toEqual([]);
});
