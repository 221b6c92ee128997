import { writeMail } from './mail-templates.ts';
import type { QuotaInvitation, QuotaReturn } from './quota-mails.ts';

const links = { ticketsUrl: 'http://127.0.0.1:3000/tickets', transfersUrl: 'http://127.0.0.1:3000/transfers' };
const facts = { match_name: 'Dinamo - Hajduk', kickoff_at: '2026-12-12T19:45:00Z', venue: 'Stadion Maksimir' };
const invitation: QuotaInvitation = {
  ...facts,
  locale: 'hr',
  quota_name: 'NK Maksimir',
  tickets_count: 2,
  claim_until: '2026-12-01T11:00:00Z',
  claim_url: 'https://t.hr/invitation#inv_abc',
  invited_name: 'Đurđica Šćepanović-Žižić',
  total_amount: '1250.00 EUR',
};
const deadline: QuotaReturn = {
  ...facts,
  locale: 'hr',
  quota_name: 'NK Maksimir',
  notice: 'week',
  return_at: '2026-12-01T11:00:00Z',
  places_count: 12,
  on_return: 'public',
};
const invited = (changes: Partial<QuotaInvitation> = {}) =>
  writeMail({ template: 'quota_invitation', payload: { ...invitation, ...changes } }, links);
const noticed = (changes: Partial<QuotaReturn> = {}) =>
  writeMail({ template: 'quota_return', payload: { ...deadline, ...changes } }, links);

test('mail quota_invitation in Croatian has exactly this text, with the invited person’s name as written', () => {
  const { subject, text, html } = invited();
  expect(subject).toBe('Poziv: ulaznice za Dinamo - Hajduk');
  expect(text).toBe(
    [
      'Pozdrav, Đurđica Šćepanović-Žižić!',
      '',
      'Iz kvote „NK Maksimir“ za vas je odvojeno: 2 ulaznice.',
      'Cijena: 1.250,00 EUR',
      '',
      'Dinamo - Hajduk',
      'subota, 12. prosinca 2026. u 20:45',
      'Stadion Maksimir',
      '',
      'Preuzmite ih ovdje: https://t.hr/invitation#inv_abc',
      'Rok: utorak, 1. prosinca 2026. u 12:00. Nakon toga poziv više ne vrijedi.',
      '',
    ].join('\n'),
  );
  expect(html).toContain('href="https://t.hr/invitation#inv_abc"');
  expect(html).toContain('Đurđica Šćepanović-Žižić');
});

test('mail quota_invitation in English has price and times in English', () => {
  const { subject, text } = invited({ locale: 'en' });
  expect(subject).toBe('Invitation: tickets for Dinamo - Hajduk');
  expect(text).toContain('Hello Đurđica Šćepanović-Žižić,');
  expect(text).toContain('Price: EUR 1,250.00');
  expect(text).toContain('By Tuesday, 1 December 2026 at 12:00.');
});

test.each([
  ['hr', 'Cijena: besplatno'],
  ['en', 'Price: free of charge'],
] as const)('mail quota_invitation in locale %s for an amount of 0 says "%s"', (locale, line) => {
  const { text, html } = invited({ locale, total_amount: '0.00 EUR' });
  expect(text.split('\n')).toContain(line);
  expect(text + html).not.toContain('0.00');
});

test('mail quota_invitation without name and price lacks only these lines', () => {
  const { invited_name: _name, total_amount: _amount, ...rest } = invitation;
  const { text } = writeMail({ template: 'quota_invitation', payload: rest }, links);
  expect(text).toBe(invited().text.replace('Pozdrav, Đurđica Šćepanović-Žižić!\n\n', '').replace('Cijena: 1.250,00 EUR\n', ''));
});

test('mail quota_invitation: a name with line breaks and HTML adds no line and no element', () => {
  const { text, html } = invited({ invited_name: 'Ana\r\nBcc: all@example.hr <b>' });
  expect(text).not.toMatch(/^Bcc:/m);
  expect(html).not.toContain('<b>');
});

test.each([
  ['hr', 'Podsjetnik: ulaznice za Dinamo - Hajduk', 'Još niste preuzeli svoje ulaznice.'],
  ['en', 'Reminder: tickets for Dinamo - Hajduk', 'You have not claimed your tickets yet.'],
] as const)('mail quota_invitation that reminds has in locale %s the subject "%s"', (locale, subject, line) => {
  const mail = invited({ locale, reminder: true });
  expect(mail.subject).toBe(subject);
  expect(mail.text.split('\n')).toContain(line);
});

test('mail quota_return before the deadline has the free places, the deadline and where the places go', () => {
  expect(noticed()).toMatchObject({
    subject: 'Rok kvote „NK Maksimir“: Dinamo - Hajduk',
    text: [
      'Dinamo - Hajduk',
      'subota, 12. prosinca 2026. u 20:45',
      'Stadion Maksimir',
      '',
      'Rok: utorak, 1. prosinca 2026. u 12:00',
      'Slobodno u kvoti: 12 mjesta',
      'Nakon roka slobodna mjesta idu u javnu prodaju.',
      'Do tada još možete pozivati ljude. Pozivi koje nitko ne preuzme završavaju najkasnije tim rokom.',
      '',
    ].join('\n'),
  });
  expect(noticed({ locale: 'en', notice: 'day' }).text).toContain('Free in the quota: 12 places');
});

test.each([
  ['hr', 'public', 'Slobodno je bilo: 12 mjesta. Ta mjesta idu u javnu prodaju.'],
  ['hr', 'parent', 'Slobodno je bilo: 12 mjesta. Ta mjesta idu u kvotu „HNS“.'],
  ['hr', 'keep', 'Slobodno je bilo: 12 mjesta. Ta mjesta ostaju u kvoti, ali se više nikoga ne može pozvati.'],
  ['en', 'public', 'Free were: 12 places. These places go on public sale.'],
  ['en', 'parent', 'Free were: 12 places. These places go to the quota “HNS”.'],
  ['en', 'keep', 'Free were: 12 places. These places stay in the quota, but nobody can be invited any more.'],
] as const)('mail quota_return after the deadline, in locale %s with on_return %s: "%s"', (locale, on_return, line) => {
  const { text } = noticed({ locale, notice: 'returned', on_return, parent_name: 'HNS' });
  expect(text.split('\n')).toContain(line);
});

test.each([
  ['hr', 'Nijedno mjesto nije bilo slobodno, pa se ništa nije vratilo.'],
  ['en', 'No place was free, so nothing went back.'],
] as const)('mail quota_return in locale %s without a free place: "%s"', (locale, line) => {
  expect(noticed({ locale, notice: 'returned', places_count: 0 }).text.split('\n')).toContain(line);
});

test('mail quota_return to a parent throws without the name of the parent', () => {
  expect(() => noticed({ on_return: 'parent' })).toThrow();
});
