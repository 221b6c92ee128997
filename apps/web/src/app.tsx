import { useMemo } from 'react';
import { AppServicesContext } from './api/app-services.ts';
import { currentCaller, type StartupConfig } from './api/caller.ts';
import { readStartupConfig } from './api/startup-config.ts';
import { TribinaApi } from './api/tribina-api.ts';
import { AccountPage } from './pages/account-page.tsx';
import { CheckoutPage } from './pages/checkout-page.tsx';
import { InvitationPage } from './pages/invitation-page.tsx';
import { MatchPage } from './pages/match-page.tsx';
import { MatchesPage } from './pages/matches-page.tsx';
import { NotFoundPage } from './pages/not-found-page.tsx';
import { OrderPage } from './pages/order-page.tsx';
import { TicketsPage } from './pages/tickets-page.tsx';
import { Loading } from './parts/notice.tsx';
import { TransfersPage } from './pages/transfers-page.tsx';
import { SiteFooter } from './parts/site-footer.tsx';
import { SiteHeader } from './parts/site-header.tsx';
import { StaffPageLoader } from './parts/staff-page-loader.tsx';
import { useLoaded } from './parts/use-loaded.ts';
import { PurchaseStore } from './purchase-store.ts';
import { type Route, useRoute } from './routes.ts';
import { LanguageProvider, useLanguage } from './text/language.tsx';

export function App() {
  return (
    <LanguageProvider>
      <ConfiguredApp />
    </LanguageProvider>
  );
}

/** Loads the configuration that the page needs before its first API call: the queue service's URL and how fans sign in. */
function ConfiguredApp() {
  const { texts } = useLanguage();
  const config = useLoaded(readStartupConfig, '');
  if (config.value) return <Site startupConfig={config.value} />;
  return (
    <main className="container">
      <Loading problem={config.problem} title={texts.common.startFailed} onRetry={config.reload} />
    </main>
  );
}

function Site({ startupConfig }: { startupConfig: StartupConfig }) {
  const { texts } = useLanguage();
  const route = useRoute();
  const services = useMemo(() => {
    const caller = currentCaller(startupConfig);
    return { caller, api: new TribinaApi(startupConfig, caller), purchaseStore: new PurchaseStore(caller.fanId) };
  }, [startupConfig]);
  return (
    <AppServicesContext value={services}>
      <a className="skip-link" href="#content">
        {texts.nav.skip}
      </a>
      <SiteHeader route={route} />
      <main className="container" id="content" tabIndex={-1}>
        <RoutePage route={route} />
      </main>
      <SiteFooter />
    </AppServicesContext>
  );
}

/**
 * Shows the page of a route. The `key` makes React build a new page for another match or order, instead of keeping the state of
 * the old page.
 */
function RoutePage({ route }: { route: Route }) {
  switch (route.page) {
    case 'matches':
      return <MatchesPage />;
    case 'match':
      return <MatchPage key={route.matchId} matchId={route.matchId} />;
    case 'checkout':
      return <CheckoutPage key={route.matchId} matchId={route.matchId} />;
    case 'order':
      return <OrderPage key={route.orderId} orderId={route.orderId} />;
    case 'tickets':
      return <TicketsPage />;
    case 'transfers':
      return <TransfersPage />;
    case 'account':
      return <AccountPage />;
    case 'invitation':
      return <InvitationPage />;
    case 'quotas':
    case 'quota':
    case 'ops':
    case 'ops-jobs':
    case 'ops-audit':
    case 'ops-webhooks':
    case 'ops-quotas':
      return <StaffPageLoader route={route} />;
    case 'unknown':
      return <NotFoundPage />;
  }
}
