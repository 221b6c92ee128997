import type { ArrivedMail } from '../../testing/fake-mailgun.ts';
import { NoAnswer, NotSent, ProviderDown, Refused } from '#messaging/sending/send-errors';
import type { MailProvider, OutgoingMail } from '../application/ports.ts';

/** A mail provider that sends to a fake server, and the mails that the server accepted. */
export interface ProviderUnderTest {
  readonly provider: MailProvider;
  readonly arrived: readonly ArrivedMail[];
  /** Makes the fake server fail at the next mail. */
  plan(fault: 'refused address' | 'wrong credentials' | 'server error' | 'accepted without an answer'): void;
  /** Stops the fake server. */
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

/** The tests that every MailProvider must pass. */
export function mailProviderContract(name: string, make: () => Promise<ProviderUnderTest>): void {
  describe(`mails by ${name}`, () => {
    let it: ProviderUnderTest;
    beforeEach(async () => void (it = await make()));
    afterEach(() => it.close());

    test('arrive unchanged: subject, text, HTML and message id', async () => {
      await it.provider.send(mail);
      expect(it.arrived).toHaveLength(1);
      const [arrived] = it.arrived;
      expect({ ...arrived, text: arrived?.text.trimEnd(), html: arrived?.html.trimEnd() }).toMatchObject({
        to: mail.to,
        from: 'HNS tickets <tickets@hns.hr>',
        subject: mail.subject,
        text: mail.text.trimEnd(),
        html: mail.html.trimEnd(),
        messageId: `<${mail.messageId}@hns.hr>`,
      });
    });

    test('arrive unchanged if a line begins with a dot, also where a long line was wrapped', async () => {
      const text = `First line\n.second line\n${'a.'.repeat(100)}${'.'.repeat(100)}`;
      await it.provider.send({ ...mail, text, html: `<p>${text}</p>` });
      expect(it.arrived.map((arrived) => [arrived.text.trimEnd(), arrived.html.trimEnd()])).toEqual([[text, `<p>${text}</p>`]]);
    });

    test('that are sent again have the same Message-ID, with the domain of the sender; another mail has another one', async () => {
      for (const messageId of [mail.messageId, mail.messageId, 'job_abc123']) await it.provider.send({ ...mail, messageId });
      expect(it.arrived.map(({ messageId }) => messageId)).toEqual([
        `<${mail.messageId}@hns.hr>`,
        `<${mail.messageId}@hns.hr>`,
        '<job_abc123@hns.hr>',
      ]);
    });

    test('arrive with attachments and inline images: the files arrive unchanged, and so do subject, text and HTML', async () => {
      const files = [
        {
          name: 'ticket-8BC3DB54.pdf',
          contentType: 'application/pdf',
          content: Buffer.from(Uint8Array.from({ length: 3000 }, (_, n) => n % 256)),
        },
        { name: 'notes.csv', contentType: 'text/csv', content: Buffer.from('č;ž\n') },
        { name: 'ticket-8BC3DB54.png', contentType: 'image/png', content: Buffer.from([0x89, 0x50, 0x4e, 0x47]), inline: true },
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

    test('whose subject or address contains line breaks get no additional headers or recipients', async () => {
      const injection = { ...mail, subject: 'x\r\nBcc: eve@example.com', to: 'ana@example.com\r\nBcc: eve@example.com' };
      await it.provider.send(injection).catch(() => undefined);
      for (const { to } of it.arrived) expect(to).not.toContain('eve');
    });

    test.each([
      ['refused address', Refused],
      ['wrong credentials', NotSent],
      ['server error', ProviderDown],
      ['accepted without an answer', NoAnswer],
    ] as const)(
      'with the fault "%s" fail with the error class of this fault, and its message does not contain the address',
      async (fault, kind) => {
        it.plan(fault);
        const error = await it.provider.send(mail).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(kind);
        expect((error as Error).message).not.toContain('example.com');
        expect(it.arrived).toHaveLength(fault === 'accepted without an answer' ? 1 : 0);
        // After the fault the next mail is sent normally.
        await it.provider.send({ ...mail, messageId: 'next' });
        expect(it.arrived.at(-1)?.messageId).toContain('next');
      },
    );

    test('to a server that cannot be reached fail with ProviderDown, which means certainly not sent', async () => {
      await it.shutDown();
      await expect(it.provider.send(mail)).rejects.toThrow(ProviderDown);
    });
  });
}
