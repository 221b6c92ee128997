import type { PaymentProvider } from '../payment-provider.ts';
import { PaymentsDestination } from './payments-destination.ts';
import { ProviderUnavailable, ProviderRefused } from './provider-errors.ts';

/** Records each command, and throws for the intents that have an error in `errors`. */
class ScriptedProvider implements Pick<PaymentProvider, 'refund' | 'cancel'> {
  readonly commands: string[] = [];
  constructor(private readonly errors: Readonly<Record<string, Error>>) {}
  async refund({ intentId, amountCents, key }: { intentId: string; amountCents: number; key: string }): Promise<void> {
    this.record(intentId, `refund ${intentId} ${amountCents} ${key}`);
  }
  async cancel(intentId: string): Promise<void> {
    this.record(intentId, `cancel ${intentId}`);
  }
  private record(intentId: string, command: string): void {
    const error = this.errors[intentId];
    if (error) throw error;
    this.commands.push(command);
  }
}

const message = (id: string, body: unknown) => ({ id, event: 'test', body });
const refund = (intentId: string) => message(intentId, { kind: 'refund', intentId, amountCents: 500, key: `refund:${intentId}` });
const errors = {
  pi_outage: new ProviderUnavailable('429'),
  pi_stuck: new ProviderUnavailable('500 again', true),
  pi_refused: new ProviderRefused('400'),
  pi_defect: new TypeError('ours'),
};

test('PaymentsDestination sends refunds and cancellations to the provider', async () => {
  const provider = new ScriptedProvider(errors);
  const deliveries = await new PaymentsDestination(provider).deliver([
    refund('pi_1'),
    message('2', { kind: 'cancel', intentId: 'pi_2' }),
  ]);
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
  expect(provider.commands).toEqual(['refund pi_1 500 refund:pi_1', 'cancel pi_2']);
});

test('each command to the payment provider in a batch has its own outcome', async () => {
  const ids = ['pi_1', 'pi_outage', 'pi_stuck', 'pi_refused', 'pi_defect'];
  const deliveries = await new PaymentsDestination(new ScriptedProvider(errors)).deliver(ids.map(refund));
  expect(deliveries).toEqual([
    { id: 'pi_1', outcome: 'delivered' },
    { id: 'pi_outage', outcome: 'failed', error: '429' },
    { id: 'pi_stuck', outcome: 'failed', error: '500 again' },
    { id: 'pi_refused', outcome: 'poison', error: '400' },
    { id: 'pi_defect', outcome: 'failed', error: 'ours' },
  ]);
});

test('during an outage of the payment provider `deliver` throws, so that no command uses up one of its attempts', async () => {
  const destination = new PaymentsDestination(new ScriptedProvider(errors));
  await expect(destination.deliver([refund('pi_outage'), refund('pi_outage')])).rejects.toBe(errors.pi_outage);
});

test('a command that fails while the payment provider works uses up one of its attempts, so that its retries end', async () => {
  const destination = new PaymentsDestination(new ScriptedProvider(errors));
  expect(await destination.deliver([refund('pi_stuck')])).toMatchObject([{ outcome: 'failed' }]);
});

test.each([
  ['no body', null],
  ['an unknown command', { kind: 'charge', intentId: 'pi_1' }],
  ['a refund of 0 cents', { kind: 'refund', intentId: 'pi_1', amountCents: 0, key: 'k' }],
  ['a refund of a negative amount', { kind: 'refund', intentId: 'pi_1', amountCents: -5, key: 'k' }],
  ['a refund of half a cent', { kind: 'refund', intentId: 'pi_1', amountCents: 0.5, key: 'k' }],
  ['a refund without a key', { kind: 'refund', intentId: 'pi_1', amountCents: 5 }],
])('%s can never be delivered (outcome `poison`) and is not sent to the payment provider', async (_, body) => {
  const provider = new ScriptedProvider({});
  expect(await new PaymentsDestination(provider).deliver([message('1', body)])).toMatchObject([{ outcome: 'poison' }]);
  expect(provider.commands).toEqual([]);
});
