import { newId } from '#platform/ids';
import { HeldBack } from '#platform/jobs/job-outcomes';
import type { Mails, OutgoingMail } from '../application/ports.ts';

export interface MailInBox {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailsUnderTest {
  readonly mails: Mails;
  /** Everything that has come to any address so far. */
  arrived(): Promise<readonly MailInBox[]>;
  close(): Promise<void>;
}

const mail = (changes: Partial<OutgoingMail> = {}): OutgoingMail => {
  const messageId = newId();
  return {
    messageId,
    template: 'refund',
    to: `${messageId}@example.com`,
    subject: 'Povrat novca: Šibenik – Đakovo 🏟',
    text: 'Prvi red\n.\nČćŽžŠšĐđ € & <b>\n',
    html: '<!doctype html>\n<p>Čćž &amp; <b>€</b></p>\n',
    ...changes,
  };
};

/** What every way to send mails does alike: its provider, and the ledger that makes it once. */
export function mailsContract(name: string, make: () => Promise<MailsUnderTest>): void {
  describe(`mails by ${name}`, () => {
    let it: MailsUnderTest;
    beforeEach(async () => void (it = await make()));
    afterEach(() => it.close());

    const arrivedAt = async ({ to }: OutgoingMail): Promise<readonly MailInBox[]> =>
      (await it.arrived()).filter((one) => one.to === to);

    test('one is sent, and arrives letter for letter', async () => {
      const one = mail();
      expect(await it.mails.send(one)).toBe('sent');
      const [arrived, ...more] = await arrivedAt(one);
      expect(more).toEqual([]);
      // A mail on the wire ends with a line break, however many it had.
      expect([arrived?.subject, arrived?.text.trimEnd(), arrived?.html.trimEnd()]).toEqual([
        one.subject,
        one.text.trimEnd(),
        one.html.trimEnd(),
      ]);
    });

    test('the same message again is a duplicate and reaches nobody; another message reaches the same address', async () => {
      const one = mail();
      await it.mails.send(one);
      expect(await it.mails.send(one)).toBe('duplicate');
      await it.mails.settled();
      expect(await it.mails.send(one)).toBe('duplicate');
      expect(await arrivedAt(one)).toHaveLength(1);
      expect(await it.mails.send(mail({ to: one.to }))).toBe('sent');
      expect(await arrivedAt(one)).toHaveLength(2);
    });

    test('the same message four times at the same moment arrives once', async () => {
      const one = mail();
      const sends = await Promise.allSettled(Array.from({ length: 4 }, () => it.mails.send(one)));
      // Who finds it in another's hands is held back and comes again later.
      const outcomes = sends.map((send) => (send.status === 'fulfilled' ? send.value : nameOf(send.reason)));
      expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1);
      expect(outcomes.filter((outcome) => !['sent', 'duplicate', 'held back'].includes(outcome))).toEqual([]);
      expect(await arrivedAt(one)).toHaveLength(1);
    });

    test('many messages at once do not mix', async () => {
      const all = Array.from({ length: 12 }, (_, n) => mail({ subject: `Vijest ${n}` }));
      expect(await Promise.all(all.map((one) => it.mails.send(one)))).toEqual(all.map(() => 'sent'));
      for (const one of all) expect((await arrivedAt(one)).map(({ subject }) => subject)).toEqual([one.subject]);
    });
  });
}

function nameOf(error: unknown): string {
  return error instanceof HeldBack ? 'held back' : String(error);
}
