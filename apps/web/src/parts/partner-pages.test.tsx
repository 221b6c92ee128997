import type { Invitation } from '#contracts/invitations';
import { QuotaList, QuotasPage } from '../pages/quotas-page.tsx';
import { installFakeServer, problemResponse } from '../testing/fake-network.ts';
import { api, html, issued, match, quota } from '../testing/invitation-samples.tsx';
import { installFakeStorage } from '../testing/browser-storage.ts';
import { staffLanguages } from '../text/staff-language.ts';
import type { Language } from '../text/texts.ts';
import { InvitationCard } from './invitation-card.tsx';
import { InviteList } from './invite-list.tsx';
import { InvitePerson } from './invite-person.tsx';
import { InviteVerdicts } from './invite-verdicts.tsx';

const bothLanguages = Object.keys(staffLanguages) as Language[];
const sectors = [
  { id: '0190a000-0000-7000-8000-0000000000b1', name: 'Istok' },
  { id: '0190a000-0000-7000-8000-0000000000b2', name: 'Zapad' },
];
const ignore = () => undefined;
const numberOf = (shown: string, state: string) => new RegExp(`data-testid="quota-${state}">(\\d+)<`).exec(shown)?.[1];

describe('the list of quotas', () => {
  test('shows the places of each quota by state, as numbers and as a bar of the same proportions', () => {
    const shown = html(<QuotaList quotas={[quota]} matches={[match]} />);
    expect(['total', 'free', 'invited', 'held', 'sold'].map((state) => numberOf(shown, state))).toEqual([
      '10',
      '4',
      '3',
      '2',
      '1',
    ]);
    expect([...shown.matchAll(/flex-grow:(\d+)" data-state="(\w+)"/g)].map(([, places, state]) => `${places} ${state}`)).toEqual([
      '1 sold',
      '2 held',
      '3 invited',
      '4 free',
    ]);
    expect(shown).toContain(`href="/quotas/${quota.id}"`);
  });

  test('names the parent of a part, and counts the parts of a parent', () => {
    const part = { ...quota, id: sectors[0]!.id, parent_id: quota.id, name: 'Sjever' };
    const parent = { ...quota, subtree: { ...quota.subtree, total: 30, sold: 7 } };
    const shown = html(<QuotaList quotas={[parent, part]} matches={[match]} />);
    expect(shown).toContain('Part of Torcida');
    expect(shown).toContain('With its parts: 30 places, 7 sold');
  });

  test('says when unused places go back; a quota that keeps them says never', () => {
    expect(html(<QuotaList quotas={[quota]} matches={[match]} />)).toContain('dateTime="2030-05-03T18:00:00.000Z"');
    expect(html(<QuotaList quotas={[{ ...quota, on_return: 'keep' }]} matches={[match]} />)).toContain('>never<');
  });

  test.each(bothLanguages)('in the language %s it loads for a partner, and asks others to sign in', (language) => {
    expect(html(<QuotasPage />, language)).toContain(staffLanguages[language].common.loading);
    const signedOut = html(<QuotasPage />, language, false);
    expect(signedOut).toContain(staffLanguages[language].quotas.signIn);
    expect(signedOut).not.toContain(staffLanguages[language].common.loading);
  });
});

test.each(bothLanguages)('in the language %s each field of both forms has a label', (language) => {
  const shown = html(
    <>
      <InvitePerson quota={quota} sectors={sectors} onInvited={ignore} />
      <InviteList quotaId={quota.id} sectors={sectors} onInvited={ignore} />
    </>,
    language,
  );
  const fields = [...shown.matchAll(/<(?:input|select) id="([^"]+)"/g)].map(([, id]) => id);
  expect(fields).toHaveLength(9);
  for (const id of fields) expect(shown).toContain(`<label for="${id}">`);
});

test('the sector is asked only if the quota has places in several', () => {
  const form = (count: number) =>
    html(<InvitePerson quota={quota} sectors={sectors.slice(0, count)} onInvited={ignore} />).includes('invite-sector');
  expect([form(1), form(2)]).toEqual([false, true]);
});

describe('the verdicts about a list', () => {
  const items = [
    { index: 0, status: 'created' as const },
    { index: 1, status: 'duplicate' as const, id: issued.id },
    { index: 2, status: 'refused' as const, code: 'VALIDATION_FAILED', message: 'email: is not an e-mail address' },
    { index: 3, status: 'refused' as const, code: 'QUOTA_EXCEEDED', message: 'Too few places are free.' },
  ];
  const rows = ['a@b.hr;1', 'Đurđica;1', 'broken;1', 'c@d.hr;9'];

  test.each([
    ['en', true, 'Will be invited', '1 person will be invited, 1 invited before, 2 rows refused.'],
    ['en', false, '>Invited<', '1 person invited, 1 invited before, 2 rows refused.'],
    ['hr', true, 'Bit će pozvano', 'Bit će pozvano: 1 osoba, već pozvano: 1, odbijeno: 2 retka.'],
    ['hr', false, '>Pozvano<', 'Pozvano: 1 osoba, već pozvano: 1, odbijeno: 2 retka.'],
  ] as const)('in the language %s, preview %s', (language, isPreview, verdict, summary) => {
    const shown = html(<InviteVerdicts items={items} rows={rows} isPreview={isPreview} />, language);
    expect(shown).toContain(verdict);
    expect(shown).toContain(summary);
    expect(shown).toContain(staffLanguages[language].quotas.list.tooFew);
    expect(shown).toContain('<small lang="en">email: is not an e-mail address</small>');
    for (const row of rows) expect(shown).toContain(row);
  });

  test('rows that the page counts otherwise than the API are not shown beside the verdicts', () => {
    expect(html(<InviteVerdicts items={items} rows={rows.slice(1)} isPreview={true} />)).not.toContain('Đurđica');
  });
});

describe('an invitation of the list', () => {
  const card = (fields: Partial<Invitation>, language: Language = 'en') =>
    html(<InvitationCard invitation={{ ...issued, ...fields }} onChange={ignore} />, language);

  test.each<[Invitation['status'], string[]]>([
    ['open', ['resend', 'withdraw']],
    ['held', ['withdraw']],
    ['claimed', []],
    ['expired', []],
    ['withdrawn', []],
  ])('that is %s has the buttons %j', (status, buttons) => {
    const shown = card({ status });
    expect(['resend', 'withdraw'].filter((button) => shown.includes(`data-testid="${button}"`))).toEqual(buttons);
  });

  test.each(bothLanguages)('in the language %s names the person, the places, and when it was claimed', (language) => {
    const when = staffLanguages[language].quotas.invitations.claimed('');
    const shown = card(
      { status: 'claimed', claimed_at: '2030-04-01T10:00:00Z', note: 'Loža 3', list_key: 'sponzori.csv' },
      language,
    );
    for (const text of ['Đurđica Šćepanović-Žižić', 'dura@example.com', 'Istok', 'Loža 3', 'sponzori.csv'])
      expect(shown).toContain(text);
    expect(shown).toContain(staffLanguages[language].quotas.invitations.statuses.claimed);
    expect([shown, card({}, language)].map((text) => text.includes(when))).toEqual([true, false]);
  });
});

describe('the requests of a partner', () => {
  test('a list goes as CSV with its key; an attempt that gets no answer is repeated with the same idempotency key', async () => {
    installFakeStorage();
    const received: string[][] = [];
    installFakeServer(
      ({ url, headers }) => {
        received.push([url.search, headers.get('idempotency-key') ?? '']);
        return Response.json({ items: [] });
      },
      ['answer'],
    );
    await api.inviteByCsv(quota.id, 'email\na@b.hr', { list_key: 'a b', dry_run: 'true' });
    const [first, second] = received;
    expect(second).toEqual(first);
    expect(first).toEqual(['?list_key=a+b&dry_run=true', expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });

  test('invitations are read page by page, up to the number that is shown', async () => {
    const asked: string[] = [];
    installFakeServer(({ url }) => {
      asked.push(url.search);
      return Response.json({ items: [issued], next_cursor: 'abc' });
    });
    const { items, isMore } = await api.invitations(quota.id, 2);
    expect([items.length, isMore, asked]).toEqual([2, true, ['?limit=100', '?limit=100&cursor=abc']]);
  });

  test('a withdrawal of a paid invitation is refused with the code of the API', async () => {
    installFakeServer(() => problemResponse(409, 'INVALID_STATE'));
    await expect(api.withdrawInvitation(issued.id)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  });
});

test('the token of an invitation is sent in bodies, and never in an address', async () => {
  installFakeStorage();
  const token = `inv_${'a'.repeat(43)}`;
  const sent: [string, unknown][] = [];
  installFakeServer(({ url, body }) => {
    sent.push([url.href, body]);
    return Response.json({});
  });
  await api.lookUpInvitation(token);
  await api.claimInvitation(token);
  expect(sent.map(([, body]) => body)).toEqual([{ token }, { token }]);
  expect(sent.filter(([url]) => url.includes('inv_'))).toEqual([]);
});
