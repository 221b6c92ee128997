import type { Invitation, InvitationLookup } from '#contracts/invitations';
import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import { renderToStaticMarkup } from 'react-dom/server';
import { type AppServices, AppServicesContext } from '../api/app-services.ts';
import { TribinaApi } from '../api/tribina-api.ts';
import { PurchaseStore } from '../purchase-store.ts';
import { storage } from '../storage.ts';
import { LanguageProvider } from '../text/language.tsx';
import type { Language } from '../text/texts.ts';
import { installFakeStorage } from './browser-storage.ts';

const caller = { mode: 'mock' as const, fanId: 'ana', signedIn: true, roles: ['ops'], headers: () => ({}) };

/** The API of the page, whose requests reach the fake server of the test. */
export const api = new TribinaApi({ queue_url: 'http://queue.example', auth_mode: 'mock' }, caller);

/** What a component shows first, in a language. */
export function html(element: React.ReactNode, language: Language = 'en', signedIn = true): string {
  installFakeStorage();
  storage.local.write('tribina.language', language);
  const services: AppServices = { api, caller: { ...caller, signedIn }, purchaseStore: new PurchaseStore('ana') };
  return renderToStaticMarkup(
    <LanguageProvider>
      <AppServicesContext value={services}>{element}</AppServicesContext>
    </LanguageProvider>,
  );
}

const seats = [
  { seat_id: '0190a000-0000-7000-8000-0000000000a1', sector: 'Istok', row: '3', number: 12 },
  { seat_id: '0190a000-0000-7000-8000-0000000000a2', sector: 'Istok', row: '3', number: 13 },
];

export const match: Match = {
  id: '0190a000-0000-7000-8000-000000000001',
  home: 'Hajduk',
  away: 'Dinamo',
  venue: 'Poljud',
  kickoff_at: '2030-05-10T18:00:00.000Z',
  currency: 'EUR',
  max_tickets_per_fan: 4,
  queue_required: true,
  sale: { status: 'scheduled', opens_at: null, policy: 'fifo' },
  cancelled_at: null,
  cancel_reason: null,
};

export const invitation: InvitationLookup = {
  match,
  quota_name: 'Torcida',
  seats,
  quantity: 2,
  total_cents: 5000,
  currency: 'EUR',
  opens_at: null,
  claim_until: '2030-05-01T18:00:00.000Z',
  status: 'open',
};

const counts = { total: 10, free: 4, invited: 3, held: 2, sold: 1 };

export const quota: Quota = {
  id: '0190a000-0000-7000-8000-000000000002',
  match_id: match.id,
  parent_id: null,
  name: 'Torcida',
  kind: 'fan_group',
  members: ['ana'],
  contact_email: null,
  opens_at: null,
  claim_until: '2030-05-01T18:00:00.000Z',
  return_at: '2030-05-03T18:00:00.000Z',
  on_return: 'public',
  never_to: [],
  price_cents: {},
  max_per_invitation: 4,
  status: 'open',
  returned_at: null,
  created_at: '2026-11-20T02:00:00.000Z',
  places: counts,
  subtree: counts,
  by_sector: [],
};

export const issued: Invitation = {
  id: '0190a000-0000-7000-8000-000000000003',
  email: 'dura@example.com',
  name: 'Đurđica Šćepanović-Žižić',
  quantity: 2,
  seats,
  status: 'open',
  expires_at: '2030-05-01T18:00:00.000Z',
  claimed_at: null,
  user_id: null,
  note: null,
  list_key: null,
  created_at: '2026-11-20T02:00:00.000Z',
};
