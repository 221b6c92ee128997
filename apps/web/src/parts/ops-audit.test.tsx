import type { AuditEntry } from '#contracts/audit';
import { OpsAuditPage } from '../pages/ops-audit-page.tsx';
import { api, html } from '../testing/invitation-samples.tsx';
import { installFakeServer } from '../testing/fake-network.ts';
import type { Language } from '../text/texts.ts';
import { auditQueryOf, changedFields, emptyAuditFilter } from './audit-filter.ts';
import { OpsAuditEntry } from './ops-audit-entry.tsx';

const entry: AuditEntry = {
  id: '0190a000-0000-7000-8000-000000000001',
  at: '2026-11-18T12:00:00.000Z',
  actor: '0190a000-0000-7000-8000-00000000000a',
  roles: ['ops:sale', 'ops:money'],
  action: 'changeSale',
  target: { type: 'match', id: '0190a000-0000-7000-8000-0000000000b1' },
  match_id: '0190a000-0000-7000-8000-0000000000b1',
  before: { sale_status: 'open', pause_reason: null },
  after: { sale_status: 'paused', pause_reason: '[not recorded]', sectors: [1, 2] },
  request_id: 'r-1',
  address: '203.0.113.7',
};

test('the old and the new value of a field are side by side, also when only one of them exists', () => {
  expect(changedFields(entry)).toEqual([
    { name: 'sale_status', before: 'open', after: 'paused' },
    { name: 'pause_reason', before: 'null', after: '[not recorded]' },
    { name: 'sectors', before: undefined, after: '[1,2]' },
  ]);
  expect(changedFields({ before: null, after: null })).toEqual([]);
});

test.each<[Language, string[]]>([
  ['en', ['Opened, paused or closed a sale', 'match', 'Field', 'Before', 'After']],
  ['hr', ['Otvaranje, pauza ili zatvaranje prodaje', 'utakmica', 'Polje', 'Prije', 'Poslije']],
])('in the language %s an entry says who did what with what, from where, and the values', (language, texts) => {
  const shown = html(<OpsAuditEntry entry={entry} />, language);
  for (const text of [...texts, entry.actor, 'ops:sale, ops:money', 'r-1', '203.0.113.7', 'sale_status', 'paused', 'open'])
    expect(shown).toContain(text);
  expect(shown.match(/<th scope="(col|row)">/g)).toHaveLength(6);
});

test('an entry of a read has no table; an action and a target that the page does not know are shown as they are', () => {
  const shown = html(
    <OpsAuditEntry entry={{ ...entry, action: 'newThing', target: { type: 'thing', id: null }, before: null, after: null }} />,
  );
  expect([shown.includes('newThing'), shown.includes('thing'), shown.includes('<table')]).toEqual([true, true, false]);
});

test('the filter becomes the query of the API; an operator that is no UUID is refused before', () => {
  expect(auditQueryOf(emptyAuditFilter)).toEqual({});
  const filled = {
    actor: ` ${entry.actor} `,
    action: 'changeSale',
    matchId: 'm',
    target: ' t ',
    since: '2026-11-18T12:00',
    until: '',
  };
  expect(auditQueryOf(filled)).toEqual({
    ...{ actor: entry.actor, action: 'changeSale', match_id: 'm', target: 't' },
    since: new Date('2026-11-18T12:00').toISOString(),
  });
  expect(auditQueryOf({ ...emptyAuditFilter, actor: 'ana' })).toBeUndefined();
});

test('the page has a label for each field of the filter, and the client asks for the pages of the filter', async () => {
  const shown = html(<OpsAuditPage />);
  const labels = [...shown.matchAll(/<label for="([^"]+)"/g)].map((match) => match[1]);
  expect(labels.map((id) => new RegExp(`<(?:input|select) id="${id}"`).test(shown))).toEqual(Array(6).fill(true));
  const asked: string[] = [];
  installFakeServer(({ url }) => {
    asked.push(url.pathname + url.search);
    return Response.json({ items: [entry], next_cursor: asked.length < 2 ? 'abc' : null });
  });
  expect(await api.opsAudit({ action: 'changeSale' }, 3)).toEqual({ items: [entry, entry], isMore: false });
  expect(asked).toEqual([
    '/api/v1/ops/audit?action=changeSale&limit=100',
    '/api/v1/ops/audit?action=changeSale&limit=100&cursor=abc',
  ]);
});
