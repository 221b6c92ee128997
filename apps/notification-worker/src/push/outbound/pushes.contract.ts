import { HeldBack } from '#platform/jobs/job-outcomes';
import { newId } from '#platform/ids';
import type { Delivered, OutgoingPush, Pushes } from '../application/ports.ts';

export interface PushAtDevice {
  readonly token: string;
  readonly title: string;
  readonly body: string;
}

export interface PushesUnderTest {
  readonly pushes: Pushes;
  /** Everything that has come to any device so far. */
  arrived(): Promise<readonly PushAtDevice[]>;
  close(): Promise<void>;
}

const devices = (count: number): string[] => {
  const whose = newId();
  return Array.from({ length: count }, (_, n) => `device-${n}-${whose}`);
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

/** What every way to send pushes does alike: its provider, and the ledger that makes it once. */
export function pushesContract(name: string, make: () => Promise<PushesUnderTest>): void {
  describe(`pushes by ${name}`, () => {
    let it: PushesUnderTest;
    beforeEach(async () => void (it = await make()));
    afterEach(() => it.close());

    const arrivedAt = async (tokens: readonly string[]): Promise<readonly PushAtDevice[]> =>
      (await it.arrived()).filter(({ token }) => tokens.includes(token));

    test('500 devices of one notification are one send: each is reached, letter for letter', async () => {
      const tokens = devices(500);
      const one = push(tokens);
      expect(await it.pushes.send(one)).toEqual({ outcome: 'sent', devices: 500 });
      const arrived = await arrivedAt(tokens);
      expect(arrived.map(({ token }) => token).toSorted()).toEqual(tokens.toSorted());
      expect(new Set(arrived.map(({ title, body }) => `${title}|${body}`))).toEqual(new Set([`${one.title}|${one.body}`]));
    });

    test('a range of a broadcast is of no fan in particular, and arrives', async () => {
      const tokens = devices(3);
      const range = push(tokens, { userId: undefined, broadcastId: newId() });
      expect(await it.pushes.send(range)).toEqual({ outcome: 'sent', devices: 3 });
      expect(await arrivedAt(tokens)).toHaveLength(3);
    });

    test('the same message again is a duplicate and reaches nobody; another message reaches the same devices', async () => {
      const tokens = devices(2);
      const one = push(tokens);
      await it.pushes.send(one);
      expect(await it.pushes.send(one)).toEqual({ outcome: 'duplicate' });
      expect(await arrivedAt(tokens)).toHaveLength(2);
      await it.pushes.send(push(tokens));
      expect(await arrivedAt(tokens)).toHaveLength(4);
    });

    test('the same message four times at the same moment reaches each device once', async () => {
      const tokens = devices(20);
      const one = push(tokens);
      const sends = await Promise.allSettled(Array.from({ length: 4 }, () => it.pushes.send(one)));
      // Who finds it in another's hands is held back and comes again later.
      const outcomes = sends.map((send) => (send.status === 'fulfilled' ? send.value.outcome : nameOf(send.reason)));
      expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1);
      expect(outcomes.filter((outcome) => !['sent', 'duplicate', 'held back'].includes(outcome))).toEqual([]);
      expect(await arrivedAt(tokens)).toHaveLength(20);
    });

    test('many messages at once do not mix', async () => {
      const all = Array.from({ length: 12 }, (_, n) => push(devices(5), { title: `Vijest ${n}` }));
      const sent = await Promise.all(all.map((one) => it.pushes.send(one)));
      expect(sent).toEqual(all.map((): Delivered => ({ outcome: 'sent', devices: 5 })));
      for (const { tokens, title } of all)
        expect((await arrivedAt(tokens)).map((one) => one.title)).toEqual(tokens.map(() => title));
    });
  });
}

function nameOf(error: unknown): string {
  return error instanceof HeldBack ? 'held back' : String(error);
}
