import type { MailText } from './mail-document.ts';
import { shortTicketId, writeMail, type MailContent } from './mail-templates.ts';
import { kickoffText } from './mail-words.ts';

const links = { ticketsUrl: 'http://127.0.0.1:3000/tickets' };
const match = {
  order_id: 'ORD-2026-001234',
  match_name: 'Dinamo - Hajduk',
  kickoff_at: '2026-12-12T19:45:00Z',
  venue: 'Stadion Maksimir',
};
const { order_id: _order, ...facts } = match;
const seat = { sector: 'Zapad A', row: '12', seat: '15' };
const standing = { sector: 'Sjever', row: null, seat: null };
const ticket = { ticket_id: '0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81', holder_name: 'Ana Horvat' };

type Sample = Record<string, unknown>;
/** Every template with every variable it has; the cases below are made from this table. */
const samples: Record<MailContent['template'], Sample> = {
  order_confirmation: { ...match, tickets: [seat, standing], total_amount: '450.00 EUR' },
  ticket_delivery: { ...match, tickets: [{ ...seat, ...ticket }] },
  refund: { order_id: match.order_id, match_name: match.match_name, total_amount: '120.00 EUR' },
  quota_invitation: {
    ...facts,
    quota_name: 'NK Maksimir',
    tickets_count: 4,
    claim_until: '2026-12-01T11:00:00Z',
    claim_url: 'http://127.0.0.1:3000/quotas/7',
  },
  match_reminder: { ...facts, tickets: [seat] },
  match_changed: {
    ...facts,
    change: 'moved',
    previous_kickoff_at: '2026-12-11T19:45:00Z',
    previous_venue: 'Poljud',
  },
  ops_alert: { about: 'breaker mailgun opened', text: 'mailgun failed 20 times in a row', at: '2026-12-11T19:45:00Z' },
};
/** Facts that a job may leave out; the mail is then written without them. */
const optional: Partial<Record<string, readonly string[]>> = {
  order_confirmation: ['kickoff_at', 'venue'],
  ticket_delivery: ['kickoff_at', 'venue'],
  quota_invitation: ['kickoff_at', 'venue'],
};
const templates = Object.entries(samples).map(([name, sample]) => ({
  name,
  sample,
  render: (payload: Sample): MailText => writeMail({ template: name, payload } as never, links),
}));
const cases = templates.flatMap((template) => (['hr', 'en'] as const).map((locale) => ({ ...template, locale })));

/** Each way of leaving out one variable: `total_amount`, `tickets.0.row` … */
function withoutEach(sample: Sample): { missing: string; data: Sample }[] {
  return Object.keys(sample).flatMap((field) => {
    const value = sample[field];
    const { [field]: _left, ...rest } = sample;
    const whole = [{ missing: field, data: rest }];
    if (!Array.isArray(value)) return whole;
    return whole.concat(
      withoutEach(value[0] as Sample).map(({ missing, data }) => ({
        missing: `${field}.0.${missing}`,
        data: { ...sample, [field]: [data, ...value.slice(1)] },
      })),
    );
  });
}

describe.each(cases)('$name in $locale', ({ name, render, sample, locale }) => {
  test('is complete', () => {
    const mail = render({ ...sample, locale });
    expect(mail.subject.length).toBeGreaterThan(10);
    expect(mail.text).toMatch(/\n$/);
    expect(mail.subject + mail.text + mail.html).not.toMatch(/undefined|null|NaN|\[object/);
  });

  test.each(withoutEach(sample).filter(({ missing }) => !optional[name]?.includes(missing)))(
    'refuses to be written without $missing',
    ({ data }) => {
      expect(() => render({ ...data, locale })).toThrow();
    },
  );

  test('without its optional facts it reads the same, less those lines', () => {
    const left = optional[name] ?? [];
    const { kickoff_at, venue, ...rest } = sample;
    const data = left.length > 0 ? rest : sample;
    const gone = left.length > 0 ? [kickoffText(String(kickoff_at), locale), String(venue)] : [];
    const whole = render({ ...sample, locale }).text.split('\n');
    const mail = render({ ...data, locale });
    expect(mail.text.split('\n')).toEqual(whole.filter((line) => !gone.includes(line)));
    expect(whole.length - mail.text.split('\n').length).toBe(left.length);
    expect(mail.text).not.toContain('\n\n\n');
    expect(mail.subject + mail.text + mail.html).not.toMatch(/undefined|null|NaN|\[object|<br><br><br>/);
  });

  test('a line break in a name starts no line of its own', () => {
    const mail = render({ ...sample, match_name: 'Dinamo\r\nBcc: everybody@example.com', locale });
    expect(`${mail.subject}\n${mail.text}`).not.toMatch(/^Bcc:/m);
  });
});

test('an order confirmation in Croatian, word for word', () => {
  const data = { ...match, tickets: [seat, standing], total_amount: '450.00 EUR', locale: 'hr' as const };
  expect(writeMail({ template: 'order_confirmation', payload: data }, links)).toEqual({
    html: expect.stringContaining('Narudžba ORD-2026-001234 je plaćena.') as string,
    subject: 'Narudžba ORD-2026-001234 je potvrđena: Dinamo - Hajduk',
    text: [
      'Hvala na kupnji!',
      'Narudžba ORD-2026-001234 je plaćena.',
      '',
      'Dinamo - Hajduk',
      'subota, 12. prosinca 2026. u 20:45',
      'Stadion Maksimir',
      '',
      '2 ulaznice:',
      '  - Zapad A, red 12, mjesto 15',
      '  - Sjever, stajanje',
      '',
      'Ukupno: 450.00 EUR',
      '',
      'Ulaznice stižu u posebnoj poruci, a naći ćete ih i ovdje: http://127.0.0.1:3000/tickets',
      '',
    ].join('\n'),
  });
});

test('the two languages differ in every template', () => {
  for (const { render, sample } of templates) {
    expect(render({ ...sample, locale: 'hr' })).not.toEqual(render({ ...sample, locale: 'en' }));
  }
});

test('the ticket mail names seat, holder and short id, says where the tickets are, and carries no code', () => {
  const data = { ...match, locale: 'en' as const, tickets: [{ ...seat, ...ticket, code: 'TRB1.secret-part-of-the-code' }] };
  const { text } = writeMail({ template: 'ticket_delivery', payload: data }, links);
  expect(text).toContain('Zapad A, row 12, seat 15: Ana Horvat (ticket 9C4D7E81)');
  expect(text).toContain(links.ticketsUrl);
  expect(text).not.toContain('secret');
});

test.each([
  ['en', 'G4', '- gate G4, Zapad A, row 12, seat 15: Ana Horvat'],
  ['hr', 'G4', '- ulaz G4, Zapad A, red 12, mjesto 15: Ana Horvat'],
  ['en', null, '- Zapad A, row 12'],
] as const)('in %s, the ticket mail says which gate leads to the seat: %s', (locale, gate, place) => {
  const data = { ...match, locale, tickets: [{ ...seat, ...ticket, gate }] };
  expect(writeMail({ template: 'ticket_delivery', payload: data }, links).text).toContain(place);
});

test('a short id is the random end of the ticket id, not its time', () => {
  expect(shortTicketId('0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81')).toBe('9C4D7E81');
});

test('a match at another place and the same time says so in its subject', () => {
  const sample = { ...samples.match_changed, previous_kickoff_at: facts.kickoff_at };
  const subjects = (['hr', 'en'] as const).map(
    (locale) => writeMail({ template: 'match_changed', payload: { ...sample, locale } as never }, links).subject,
  );
  expect(subjects).toEqual(['Promjena mjesta: Dinamo - Hajduk', 'New venue: Dinamo - Hajduk']);
});

test('a cancelled match has a mail of its own, in both languages and without a link to tickets', () => {
  const payload = { ...samples.match_changed, change: 'cancelled' } as never;
  for (const [locale, subject] of [
    ['hr', 'Otkazano: Dinamo - Hajduk'],
    ['en', 'Cancelled: Dinamo - Hajduk'],
  ] as const) {
    const mail = writeMail({ template: 'match_changed', payload: { ...(payload as object), locale } as never }, links);
    expect(mail.subject).toBe(subject);
    expect(mail.html).not.toContain('href');
    const told = writeMail(
      { template: 'match_changed', payload: { ...(payload as object), locale, reason: 'Oluja <b>' } as never },
      links,
    );
    expect([mail.text.includes('Oluja'), told.text.includes('Oluja <b>'), told.html.includes('Oluja &lt;b&gt;')]).toEqual([
      ...[false, true, true],
    ]);
  }
});

test('who had been given refunded tickets reads how many are gone, and nothing of the order or its money', () => {
  for (const [locale, subject] of [
    ['hr', 'Poništeno: 2 ulaznice za Dinamo - Hajduk'],
    ['en', 'No longer valid: 2 tickets for Dinamo - Hajduk'],
  ] as const) {
    const mail = writeMail({ template: 'refund', payload: { ...samples.refund, received: 2, locale } as never }, links);
    expect(mail.subject).toBe(subject);
    expect(mail.text + mail.html).not.toMatch(/ORD-|120/);
  }
});
