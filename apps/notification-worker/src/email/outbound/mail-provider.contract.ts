import type { ArrivedMail } from '../../testing/mailgun-peer.ts';
import { NoAnswer, NotSent, ProviderDown, Refused } from '#platform/sending/send-errors';
import type { MailProvider, OutgoingMail } from '../application/ports.ts';

export interface ProviderUnderTest {
  readonly provider: MailProvider;
  readonly arrived: readonly ArrivedMail[];
  /** What the provider meets with the next mail. */
  plan(fault: 'refuses the address' | 'wrong credentials' | 'in trouble' | 'accept, then drop'): void;
  /** Nobody listens any more. */
  shutDown(): Promise<void>;
  close(): Promise<void>;
}

const mail: OutgoingMail = {
  messageId: '0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81',
  template: 'refund',
  to: 'ana@example.com',
  subject: 'Povrat novca: Šibenik – Đakovo 🏟',
  text: 'Prvi red\n.\nČćŽžŠšĐđ €\n',
  html: '<!doctype html>\n<p>Čćž &amp; <b>€</b></p>\n',
};

/** What every way to send mails does alike. */
export function mailProviderContract(name: string, make: () => Promise<ProviderUnderTest>): void {
  describe(`mails by ${name}`, () => {
    let it: ProviderUnderTest;
    beforeEach(async () => void (it = await make()));
    afterEach(() => it.close());

    test('arrive whole: subject, text and HTML letter for letter, under the id of their message', async () => {
      await it.provider.send(mail);
      expect(it.arrived).toHaveLength(1);
      const [arrived] = it.arrived;
      expect({ ...arrived, text: arrived?.text.trimEnd(), html: arrived?.html.trimEnd() }).toMatchObject({
        to: mail.to,
        from: 'HNS tickets <tickets@hns.hr>',
        subject: mail.subject,
        text: mail.text.trimEnd(),
        html: mail.html.trimEnd(),
        messageId: expect.stringMatching(new RegExp(`^<${mail.messageId}@`)) as string,
      });
    });

    test('what is attached arrives byte for byte, and the mail with it as it would alone', async () => {
      const files = [
        {
          name: 'ticket-8BC3DB54.pdf',
          contentType: 'application/pdf',
          content: Buffer.from(Uint8Array.from({ length: 3000 }, (_, n) => n % 256)),
        },
        { name: 'ticket-8BC3DB54.svg', contentType: 'image/svg+xml', content: Buffer.from('<svg>č</svg>\n') },
      ];
      await it.provider.send({ ...mail, attachments: () => files });
      const [arrived] = it.arrived;
      expect(arrived?.attachments).toEqual(files);
      expect([arrived?.subject, arrived?.text.trimEnd(), arrived?.html.trimEnd()]).toEqual([
        mail.subject,
        mail.text.trimEnd(),
        mail.html.trimEnd(),
      ]);
    });

    test('line breaks in subject and address make no headers and no recipients', async () => {
      const sneaky = { ...mail, subject: 'x\r\nBcc: eve@example.com', to: 'ana@example.com\r\nBcc: eve@example.com' };
      await it.provider.send(sneaky).catch(() => undefined);
      for (const { to } of it.arrived) expect(to).not.toContain('eve');
    });

    test.each([
      ['refuses the address', Refused],
      ['wrong credentials', NotSent],
      ['in trouble', ProviderDown],
      ['accept, then drop', NoAnswer],
    ] as const)('%s is told as such, without the address', async (fault, kind) => {
      it.plan(fault);
      const error = await it.provider.send(mail).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(kind);
      expect((error as Error).message).not.toContain('example.com');
      expect(it.arrived).toHaveLength(fault === 'accept, then drop' ? 1 : 0);
      // The next one goes through again.
      await it.provider.send({ ...mail, messageId: 'next' });
      expect(it.arrived.at(-1)?.messageId).toContain('next');
    });

    test('with nobody there it certainly did not leave', async () => {
      await it.shutDown();
      await expect(it.provider.send(mail)).rejects.toThrow(ProviderDown);
    });
  });
}
