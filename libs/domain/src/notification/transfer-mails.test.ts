import { writeMail } from './mail-templates.ts';

const links = { ticketsUrl: 'https://t.hr/tickets', transfersUrl: 'https://t.hr/transfers' };
const facts = {
  match_name: 'Dinamo - Hajduk',
  kickoff_at: '2026-12-12T19:45:00Z',
  venue: 'Stadion Maksimir',
  ticket: { sector: 'Zapad A', row: '12', seat: '15' },
};
const expires_at = '2026-12-10T08:00:00Z';

test.each([
  ['hr', 'Nudi vam se ulaznica: Dinamo - Hajduk', 'Ponuda vrijedi do: četvrtak, 10. prosinca 2026. u 09:00.'],
  ['en', 'You are offered a ticket: Dinamo - Hajduk', 'The offer ends: Thursday, 10 December 2026 at 09:00.'],
] as const)(
  'mail transfer_offer in locale %s has the end of the offer, the seat and a link without a secret',
  (locale, subject, end) => {
    const mail = writeMail({ template: 'transfer_offer', payload: { ...facts, locale, expires_at } }, links);
    expect(mail.subject).toBe(subject);
    for (const text of [mail.text, mail.html]) {
      expect(text).toContain(end);
      expect(text).toContain('Zapad A');
      expect(text.match(/https:\/\/[^\s"<]+/g)?.every((url) => url === links.transfersUrl)).toBe(true);
    }
  },
);

test.each([
  ['hr', 'accepted', 'Ulaznica je prihvaćena: Dinamo - Hajduk', 'Vaš kod više ne otvara ulaz.'],
  ['en', 'accepted', 'Your ticket was accepted: Dinamo - Hajduk', 'Your code no longer opens a gate.'],
  ['hr', 'declined', 'Ulaznica nije prihvaćena: Dinamo - Hajduk', 'Ulaznica je i dalje vaša'],
  ['en', 'declined', 'Your ticket was declined: Dinamo - Hajduk', 'The ticket is still yours'],
  ['hr', 'expired', 'Ponuda ulaznice je istekla: Dinamo - Hajduk', 'Ulaznica je i dalje vaša'],
  ['en', 'expired', 'Your offer of a ticket has ended: Dinamo - Hajduk', 'The ticket is still yours'],
] as const)('mail transfer_answer in locale %s about an offer that was %s: "%s"', (locale, outcome, subject, line) => {
  const mail = writeMail({ template: 'transfer_answer', payload: { ...facts, locale, outcome } }, links);
  expect(mail.subject).toBe(subject);
  expect([mail.text, mail.html].every((text) => text.includes(line))).toBe(true);
});

test('mail transfer_answer throws without the outcome', () => {
  const payload = { ...facts, locale: 'hr', outcome: 'returned' } as never;
  expect(() => writeMail({ template: 'transfer_answer', payload }, links)).toThrow('how the offer ended');
});
