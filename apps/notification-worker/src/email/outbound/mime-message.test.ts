import type { OutgoingMail } from '../application/ports.ts';
import { mimeMessage } from './mime-message.ts';

const mail: OutgoingMail = {
  messageId: '0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81',
  template: 'ticket_delivery',
  to: 'ana@example.com',
  subject: 'Vaše ulaznice: Šibenik – Đakovo',
  text: 'Čćž\n=_mixed\n--=_alternative--\nend ',
  html: `<p>${'Žuta '.repeat(100)}</p>\n<img src="cid:a.png">`,
};
const files = [
  { name: 'a.pdf', contentType: 'application/pdf', content: Buffer.alloc(3000, 255) },
  { name: 'a.png', contentType: 'image/png', content: Buffer.from([0x89, 0x50]), inline: true },
];
const linesOf = (changes: Partial<OutgoingMail> = {}): string[] =>
  mimeMessage({ ...mail, ...changes }, 'HNS <tickets@hns.hr>')
    .raw.toString('latin1')
    .split('\r\n');

test('mimeMessage: every line is ASCII, ends with CRLF and has at most 76 characters', () => {
  for (const line of linesOf({ attachments: () => files })) expect(line).toMatch(/^[\x20-\x7e]{0,76}$/);
});

test('mimeMessage: the parts are nested so that mail programs show text or HTML, the images in it, and the files below', () => {
  const types = linesOf({ attachments: () => files }).filter((line) =>
    /^(Content-Type|Content-Transfer|Content-ID|--=_)/.test(line),
  );
  expect(types).toEqual([
    'Content-Type: multipart/mixed; boundary="=_mixed"',
    '--=_mixed',
    'Content-Type: multipart/alternative; boundary="=_alternative"',
    '--=_alternative',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '--=_alternative',
    'Content-Type: multipart/related; type="text/html"; boundary="=_related"',
    '--=_related',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '--=_related',
    'Content-Type: image/png; name="a.png"',
    'Content-Transfer-Encoding: base64',
    'Content-ID: <a.png>',
    '--=_related--',
    '--=_alternative--',
    '--=_mixed',
    'Content-Type: application/pdf; name="a.pdf"',
    'Content-Transfer-Encoding: base64',
    '--=_mixed--',
  ]);
});

test('mimeMessage: a mail without files has text and HTML only', () => {
  const types = linesOf().filter((line) => line.startsWith('Content-Type'));
  expect(types).toEqual([
    'Content-Type: multipart/alternative; boundary="=_alternative"',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Type: text/html; charset=utf-8',
  ]);
});

test('mimeMessage: a text that contains the line between two parts does not end its part', () => {
  const lines = linesOf({ attachments: () => files });
  expect(lines).toContain('=3D_mixed');
  expect(lines).toContain('--=3D_alternative--');
});

test('mimeMessage: the envelope has the address of the sender and of the reader, without names', () => {
  expect(mimeMessage(mail, 'HNS tickets <tickets@hns.hr>').envelope).toEqual({ from: 'tickets@hns.hr', to: ['ana@example.com'] });
});
