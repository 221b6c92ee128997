import { HeldBack } from '#messaging/jobs/job-outcomes';
import { newId } from '#platform/ids';
import type { SendOutcome, OutgoingPush, Pushes } from '../application/ports.ts';

/** A push as it arrived at one device. */
export interface ReceivedPush {
  readonly token: string;
  readonly title: string;
  readonly body: string;
}

/** An implementation of Pushes, and a way to read the pushes that it delivered. */
export interface PushesUnderTest {
  readonly pushes: Pushes;
  /** All pushes that have arrived so far, at any device. */
  arrived(): Promise<readonly ReceivedPush[]>;
  close(): Promise<void>;
}

const devices = (count: number): string[] => {
  const suffix = newId();
  return Array.from({ length: count }, (_, n) => `device-${n}-${suffix}`);
};

const push = (tokens: readonly string[], changes: Partial<OutgoingPush> = {}): OutgoingPush => ({
  messageId: newId(),
  template: 'match_changed',
  userId: newId(),
  tokens,
  title: 'Promjena: Šibenik – Đakovo 🏟',
  body: 'Novi termin "subota" & <20:45>\nVidimo se!',
  data: { action: 'open_match' },
  urgent: false,
  ...changes,
});

/** The tests that every implementation of Pushes must pass. */
export function pushesContract(name: string, make: () => Promise<PushesUnderTest>): void {
  describe(`pushes by ${name}`, () => {
    let it: PushesUnderTest;
    beforeEach(async () => void (it = await make()));
    afterEach(() => it.close());

    const arrivedAt = async (tokens: readonly string[]): Promise<readonly ReceivedPush[]> =>
      (await it.arrived()).filter(({ token }) => tokens.includes(token));

    test('one push reaches all its 500 devices, and its text arrives unchanged', async () => {
      const tokens = devices(500);
      const sentPush = push(tokens);
      expect(await it.pushes.send(sentPush)).toEqual({ outcome: 'sent', devices: 500 });
      const arrived = await arrivedAt(tokens);
      expect(arrived.map(({ token }) => token).toSorted()).toEqual(tokens.toSorted());
      expect(new Set(arrived.map(({ title, body }) => `${title}|${body}`))).toEqual(
        new Set([`${sentPush.title}|${sentPush.body}`]),
      );
    });

    test('a push of a broadcast, which has no user id, arrives at its devices', async () => {
      const tokens = devices(3);
      const range = push(tokens, { userId: undefined, broadcastId: newId() });
      expect(await it.pushes.send(range)).toEqual({ outcome: 'sent', devices: 3 });
      expect(await arrivedAt(tokens)).toHaveLength(3);
    });

    test('a push that is sent twice reaches its devices once, and the second send returns duplicate; another push reaches the same devices', async () => {
      const tokens = devices(2);
      const sentPush = push(tokens);
      await it.pushes.send(sentPush);
      expect(await it.pushes.send(sentPush)).toEqual({ outcome: 'duplicate' });
      expect(await arrivedAt(tokens)).toHaveLength(2);
      await it.pushes.send(push(tokens));
      expect(await arrivedAt(tokens)).toHaveLength(4);
    });

    test('a push that is sent four times at the same time reaches each device once', async () => {
      const tokens = devices(20);
      const sentPush = push(tokens);
      const sends = await Promise.allSettled(Array.from({ length: 4 }, () => it.pushes.send(sentPush)));
      // A send that finds the message claimed by another send is held back and retried later.
      const outcomes = sends.map((send) => (send.status === 'fulfilled' ? send.value.outcome : nameOf(send.reason)));
      expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1);
      expect(outcomes.filter((outcome) => !['sent', 'duplicate', 'held back'].includes(outcome))).toEqual([]);
      expect(await arrivedAt(tokens)).toHaveLength(20);
    });

    test('of twelve pushes sent at the same time each arrives at its own devices', async () => {
      const all = Array.from({ length: 12 }, (_, n) => push(devices(5), { title: `Vijest ${n}` }));
      const sent = await Promise.all(all.map((sentPush) => it.pushes.send(sentPush)));
      expect(sent).toEqual(all.map((): SendOutcome => ({ outcome: 'sent', devices: 5 })));
      for (const { tokens, title } of all)
        expect((await arrivedAt(tokens)).map((sentPush) => sentPush.title)).toEqual(tokens.map(() => title));
    });
  });
}

function nameOf(error: unknown): string {
  return error instanceof HeldBack ? 'held back' : String(error);
}
