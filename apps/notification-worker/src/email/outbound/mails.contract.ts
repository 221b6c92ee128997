import { newId } from '#platform/ids';
import { HeldBack } from '#messaging/jobs/job-outcomes';
import type { Mails, OutgoingMail } from '../application/ports.ts';

/** A mail as it arrived at its recipient. */
export interface ReceivedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** An implementation of Mails, and a way to read the mails that it delivered. */
export interface MailsUnderTest {
  readonly mails: Mails;
  /** All mails that have arrived so far, at any address. */
  arrived(): Promise<readonly ReceivedMail[]>;
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

/** The tests that every implementation of Mails must pass. */
export function mailsContract(name: string, make: () => Promise<MailsUnderTest>): void {
  describe(`mails by ${name}`, () => {
    let it: MailsUnderTest;
    beforeEach(async () => void (it = await make()));
    afterEach(() => it.close());

    const arrivedAt = async ({ to }: OutgoingMail): Promise<readonly ReceivedMail[]> =>
      (await it.arrived()).filter((sentMail) => sentMail.to === to);

    test('a mail is sent and arrives unchanged', async () => {
      const sentMail = mail();
      expect(await it.mails.send(sentMail)).toBe('sent');
      const [arrived, ...more] = await arrivedAt(sentMail);
      expect(more).toEqual([]);
      // Only the number of line breaks at the end of a text may change during the transport.
      expect([arrived?.subject, arrived?.text.trimEnd(), arrived?.html.trimEnd()]).toEqual([
        sentMail.subject,
        sentMail.text.trimEnd(),
        sentMail.html.trimEnd(),
      ]);
    });

    test('a mail that is sent twice arrives once, and the second send returns duplicate; another mail to the same address arrives', async () => {
      const sentMail = mail();
      await it.mails.send(sentMail);
      expect(await it.mails.send(sentMail)).toBe('duplicate');
      await it.mails.settled();
      expect(await it.mails.send(sentMail)).toBe('duplicate');
      expect(await arrivedAt(sentMail)).toHaveLength(1);
      expect(await it.mails.send(mail({ to: sentMail.to }))).toBe('sent');
      expect(await arrivedAt(sentMail)).toHaveLength(2);
    });

    test('a mail that is sent four times at the same time arrives once', async () => {
      const sentMail = mail();
      const sends = await Promise.allSettled(Array.from({ length: 4 }, () => it.mails.send(sentMail)));
      // A send that finds the message claimed by another send is held back and retried later.
      const outcomes = sends.map((send) => (send.status === 'fulfilled' ? send.value : nameOf(send.reason)));
      expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1);
      expect(outcomes.filter((outcome) => !['sent', 'duplicate', 'held back'].includes(outcome))).toEqual([]);
      expect(await arrivedAt(sentMail)).toHaveLength(1);
    });

    test('of twelve mails sent at the same time each arrives at its own address', async () => {
      const all = Array.from({ length: 12 }, (_, n) => mail({ subject: `Vijest ${n}` }));
      expect(await Promise.all(all.map((sentMail) => it.mails.send(sentMail)))).toEqual(all.map(() => 'sent'));
      for (const sentMail of all) expect((await arrivedAt(sentMail)).map(({ subject }) => subject)).toEqual([sentMail.subject]);
    });
  });
}

function nameOf(error: unknown): string {
  return error instanceof HeldBack ? 'held back' : String(error);
}
