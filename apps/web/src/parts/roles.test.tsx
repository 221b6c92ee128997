import type { Job } from '#contracts/jobs';
import type { OpsMatch } from '#contracts/matches';
import { opsRoles as rolesOfServer, rolesWith as rolesOnServer } from '#contracts/roles';
import { renderToStaticMarkup } from 'react-dom/server';
import { type AppServices, AppServicesContext } from '../api/app-services.ts';
import { currentCaller, type StartupConfig, switchToRoles } from '../api/caller.ts';
import { TribinaApi } from '../api/tribina-api.ts';
import { OpsMatchCard } from '../pages/ops-page.tsx';
import { PurchaseStore } from '../purchase-store.ts';
import { storage } from '../storage.ts';
import { installFakeStorage } from '../testing/browser-storage.ts';
import { installFakeServer } from '../testing/fake-network.ts';
import { match as sampleMatch } from '../testing/invitation-samples.tsx';
import { orderOfTwo as order } from '../testing/order-samples.ts';
import { LanguageProvider } from '../text/language.tsx';
import type { Language } from '../text/texts.ts';
import { OpsBlacklist } from './ops-blacklist.tsx';
import { OpsJobCard } from './ops-job-card.tsx';
import { OpsOrderCard } from './ops-order-card.tsx';
import { opsRoles, rolesWith } from './role-access.ts';
import { RoleChoice } from './role-choice.tsx';

const config: StartupConfig = { queue_url: 'http://queue.example', auth_mode: 'mock' };
const match = { ...sampleMatch, processing_rate: 600, max_open_windows: 10, pause_reason: null } as unknown as OpsMatch;
const job = {
  ...{ id: 'j1', queue: 'email', template: 'refund', state: 'failed', attempts: [], created_at: '2026-11-18T12:00:00.000Z' },
  ...{ transport: 'redis', payload: {}, interventions: [] },
} as Job;

const nothing = () => undefined;
const everything = (
  <>
    <RoleChoice />
    <OpsMatchCard match={match} isOpen={true} onOpen={nothing} onChange={nothing} />
    <OpsOrderCard order={order} onChange={nothing} />
    <OpsBlacklist />
    <OpsJobCard job={job} isOpen={true} onToggle={nothing} onChange={nothing} />
  </>
);

function html(roles: readonly string[], language: Language = 'en'): string {
  installFakeStorage();
  storage.local.write('tribina.language', language);
  switchToRoles(roles);
  const caller = currentCaller(config);
  const services: AppServices = { api: new TribinaApi(config, caller), caller, purchaseStore: new PurchaseStore('ana') };
  return renderToStaticMarkup(
    <LanguageProvider>
      <AppServicesContext value={services}>{everything}</AppServicesContext>
    </LanguageProvider>,
  );
}

const sale = ['ops-open', 'ops-save', 'job-retry', 'job-drop'];
const money = ['ops-refund', 'ops-cancel'];
const lists = ['ops-order-list', 'ops-list'];
const shownIn = (page: string, ids: readonly string[]): string[] => ids.filter((id) => page.includes(`data-testid="${id}"`));

test('the page knows the same roles as the server', () => {
  expect([...opsRoles].sort()).toEqual([...rolesOfServer].sort());
  expect(rolesWith).toEqual(Object.fromEntries(opsRoles.map((role) => [role, rolesOnServer(role)])));
});

test.each<[string[], string[]]>([
  [['ops'], [...sale, ...money, ...lists]],
  [['ops:read'], []],
  [['ops:sale'], sale],
  [['ops:money'], money],
  [['ops:lists'], lists],
  [
    ['ops:money', 'ops:lists'],
    [...money, ...lists],
  ],
  [[], []],
])('an operator with the roles %j sees the buttons %j and reads which roles the others need', (roles, buttons) => {
  const page = html(roles);
  expect(shownIn(page, [...sale, ...money, ...lists])).toEqual(buttons);
  const missing = [
    !buttons.includes('ops-open') && 'role-needed-sale',
    !buttons.includes('ops-refund') && 'role-needed-money',
    !buttons.includes('ops-list') && 'role-needed-lists',
  ].filter((id) => id !== false);
  expect(shownIn(page, ['role-needed-sale', 'role-needed-money', 'role-needed-lists'])).toEqual(missing);
  for (const id of ['ops-find', 'ops-blacklist', 'job-payload']) expect(shownIn(page, [id])).toEqual([id]);
});

test.each<[Language, string]>([
  ['en', 'Refunds and cancelling a match needs one of these roles: ops:money, ops. You have: ops:read.'],
  ['hr', 'Povrat novca i otkazivanje utakmice traži jednu od uloga: ops:money, ops. Vi imate: ops:read.'],
])('in the language %s the page names the missing role', (language, text) => {
  expect(html(['ops:read'], language)).toContain(text);
});

test('in mock mode the chosen roles are sent with the calls of operators, and none with those of fans', async () => {
  html(['ops:read', 'ops:money']);
  const caller = currentCaller(config);
  const sent: (string | null)[] = [];
  installFakeServer(({ headers }) => {
    sent.push(headers.get('x-mock-roles'));
    return Response.json({ items: [], next_cursor: null });
  });
  const api = new TribinaApi(config, caller);
  await api.opsMatches();
  await api.matches();
  await api.quotas(1);
  expect(sent).toEqual(['ops:read,ops:money', null, 'partner']);
});

test.each<[string, string | undefined, unknown, string[]]>([
  ['in the claim `roles`', undefined, { roles: ['ops:read', 'partner', 7] }, ['ops:read', 'partner']],
  ['in the claim that the installation names', 'groups', { groups: ['ops'], roles: ['ops:read'] }, ['ops']],
  ['in no list', undefined, { roles: 'ops' }, []],
])('in jwt mode the roles are read from the access token: %s', (_, roles_claim, claims, roles) => {
  installFakeStorage();
  const payload = btoa(JSON.stringify({ sub: 'ana', ...(claims as object) }));
  storage.session.write('tribina.token', `e30.${payload}.x`);
  const caller = currentCaller({ ...config, auth_mode: 'jwt', ...(roles_claim ? { roles_claim } : {}) });
  expect([caller.fanId, caller.roles]).toEqual(['ana', roles]);
});
