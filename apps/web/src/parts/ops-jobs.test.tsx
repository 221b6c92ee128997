import type { Job, QueueCounts } from '#contracts/jobs';
import { renderToStaticMarkup } from 'react-dom/server';
import { type AppServices, AppServicesContext } from '../api/app-services.ts';
import { TribinaApi } from '../api/tribina-api.ts';
import { OpsJobsPage } from '../pages/ops-jobs-page.tsx';
import { PurchaseStore } from '../purchase-store.ts';
import { storage } from '../storage.ts';
import { installFakeStorage } from '../testing/browser-storage.ts';
import { installFakeServer } from '../testing/fake-network.ts';
import { LanguageProvider } from '../text/language.tsx';
import { type Language, languages } from '../text/texts.ts';
import { OpsJobCard } from './ops-job-card.tsx';
import { OpsJobCounts } from './ops-job-counts.tsx';
import { OpsJobFilter } from './ops-job-filter.tsx';
import { filterOf } from './use-job-filter.ts';

const job: Job = {
  id: '0190a000-0000-7000-8000-000000000001',
  queue: 'email',
  template: 'refund',
  state: 'failed',
  attempts: [
    { at: '2026-11-18T12:05:00.000Z', error: '550 mailbox full' },
    { at: null, error: 'the worker died' },
  ],
  created_at: '2026-11-18T12:00:00.000Z',
  transport: 'redis',
  payload: { recipient: 'an•••@example.hr', order_id: 'ORD-2026-000007' },
  interventions: [{ action: 'retry', by: 'cli:ana', at: '2026-11-18T12:04:00.000Z' }],
};

const caller = { mode: 'mock' as const, fanId: 'ana', signedIn: true, roles: ['ops'], headers: () => ({}) };
const api = new TribinaApi({ queue_url: 'http://queue.example', auth_mode: 'mock' }, caller);

function html(element: React.ReactNode, language: Language = 'en'): string {
  installFakeStorage();
  storage.local.write('tribina.language', language);
  const services: AppServices = { api, caller, purchaseStore: new PurchaseStore('ana') };
  return renderToStaticMarkup(
    <LanguageProvider>
      <AppServicesContext value={services}>{element}</AppServicesContext>
    </LanguageProvider>,
  );
}

const card = (shown: Job, { isOpen = true, language = 'en' as Language } = {}): string =>
  html(<OpsJobCard job={shown} isOpen={isOpen} onToggle={() => undefined} onChange={() => undefined} />, language);

test.each<[Language, string[]]>([
  ['en', ['Failed attempts', 'time unknown', 'What operators did', 'Retried by cli:ana', 'E-mail', 'Failed']],
  [
    'hr',
    [
      'Neuspjeli pokušaji',
      'vrijeme nepoznato',
      'Što su organizatori učinili',
      'Ponovno pokrenuo cli:ana',
      'E-pošta',
      'Neuspjelo',
    ],
  ],
])('in the language %s an open job shows its attempts, its content and what operators did', (language, texts) => {
  const shown = card(job, { language });
  for (const text of [...texts, job.id, '550 mailbox full', 'the worker died', 'an•••@example.hr', 'ORD-2026-000007', 'Redis'])
    expect(shown).toContain(text);
});

test('a closed job shows its newest error and no details; its button says so and names what it opens', () => {
  const shown = card(job, { isOpen: false });
  expect([shown.includes('550 mailbox full'), shown.includes('the worker died'), shown.includes('job-payload')]).toEqual([
    true,
    false,
    false,
  ]);
  const controls = /aria-expanded="false" aria-controls="([^"]+)"/.exec(shown)?.[1];
  expect(shown).toContain(`id="${controls}"`);
  expect(shown).toMatch(/hidden=""/);
});

test.each([
  ['failed', ['job-retry', 'job-drop']],
  ['waiting', ['job-drop']],
  ['delayed', ['job-drop']],
  ['active', []],
  ['completed', []],
] as const)('a job that is %s has the buttons %j', (state, buttons) => {
  const shown = card({ ...job, state });
  expect(['job-retry', 'job-drop'].filter((button) => shown.includes(`data-testid="${button}"`))).toEqual(buttons);
});

const none = { waiting: 0, delayed: 0, active: 0, completed: 0, failed: 0, oldest_waiting_seconds: 0 };
const counts: QueueCounts[] = [
  { queue: 'email', ...none, waiting: 1200, failed: 3, oldest_waiting_seconds: 75 },
  { queue: 'outbox', ...none, waiting: 5, failed: 1 },
];

test('each number of the table has its row and column, and is a button if the list can show these jobs', () => {
  const shown = html(<OpsJobCounts counts={counts} onShow={() => undefined} />);
  expect(shown.match(/<th scope="col">[^<]+/g)).toHaveLength(7);
  expect(shown.match(/<th scope="row">[^<]+/g)).toEqual(['<th scope="row">E-mail', '<th scope="row">Undelivered messages']);
  expect([...shown.matchAll(/aria-label="([^"]*show[^"]*)"/g)].map((match) => match[1])).toEqual([
    '3, show: E-mail, Failed',
    '1,200, show: E-mail, Waiting',
    '1, show: Undelivered messages, Failed',
  ]);
  expect(shown).toContain('75 s');
});

test('each field of the filter has a label; a template that the API would refuse is marked and not searched', () => {
  const input = { state: 'failed', queue: '', template: 'a b', q: ' ana ' } as const;
  const shown = html(<OpsJobFilter input={input} isTemplateFaulty={true} onChange={() => undefined} />);
  const labels = [...shown.matchAll(/<label for="([^"]+)"/g)].map((match) => match[1]);
  expect(labels.map((id) => new RegExp(`<(?:input|select) id="${id}"`).test(shown))).toEqual([true, true, true, true]);
  expect(shown).toContain('aria-invalid="true"');
  expect([filterOf(input), filterOf({ ...input, template: ' refund ' })]).toEqual([
    undefined,
    { state: 'failed', template: 'refund', q: 'ana' },
  ]);
});

test.each(Object.keys(languages) as Language[])(
  'in the language %s the page says that it loads the counts and the jobs',
  (language) => {
    const shown = html(<OpsJobsPage />, language);
    expect(shown.split(languages[language].common.loading)).toHaveLength(3);
    expect(shown).not.toContain('job-none');
  },
);

describe('the jobs that the page reads', () => {
  const page = (ids: readonly number[], next: string | null) =>
    Response.json({ items: ids.map((id) => ({ ...job, id: String(id) })), next_cursor: next });

  test('it asks again while pages end early, and says that there is more', async () => {
    const asked: string[] = [];
    installFakeServer(({ url }) => {
      asked.push(url.search);
      return asked.length < 3
        ? page([asked.length], 'abc')
        : page(
            Array.from({ length: 48 }, (_, id) => id),
            'def',
          );
    });
    const { items, isMore } = await api.opsJobs({ state: 'failed', q: 'ana' }, 1);
    expect([items.length, isMore]).toEqual([50, true]);
    expect(asked).toEqual([
      '?state=failed&q=ana&limit=50',
      '?state=failed&q=ana&limit=49&cursor=abc',
      '?state=failed&q=ana&limit=48&cursor=abc',
    ]);
  });

  test('a search that finds nothing in a long list ends after five requests', async () => {
    let requests = 0;
    installFakeServer(() => {
      requests += 1;
      return page([], 'abc');
    });
    expect([await api.opsJobs({ q: 'nobody' }, 1), requests]).toEqual([{ items: [], isMore: true }, 5]);
  });
});
