import { useMemo } from 'react';
import { currentCaller, type StartUp } from './api/caller.ts';
import { Client } from './api/client.ts';
import { Tribina } from './api/tribina.ts';
import { TribinaContext } from './api/tribina-context.ts';
import { CheckoutPage } from './pages/checkout-page.tsx';
import { MatchPage } from './pages/match-page.tsx';
import { MatchesPage } from './pages/matches-page.tsx';
import { NotFoundPage } from './pages/not-found-page.tsx';
import { OpsPage } from './pages/ops-page.tsx';
import { OrderPage } from './pages/order-page.tsx';
import { TicketsPage } from './pages/tickets-page.tsx';
import { Failed, Loading } from './parts/loading.tsx';
import { SiteFooter } from './parts/site-footer.tsx';
import { SiteHeader } from './parts/site-header.tsx';
import { useLoaded } from './parts/use-loaded.ts';
import { Memory } from './purchase-memory.ts';
import { type Route, useRoute } from './routes.ts';
import { LanguageProvider, useLanguage } from './text/language.tsx';

const anonymous = new Client({ mode: 'jwt', fanId: 'nobody', signedIn: false, headers: () => ({}) });

export function App() {
  return (
    <LanguageProvider>
      <Started />
    </LanguageProvider>
  );
}

/** What the page must know before its first call: where the waiting room is and how fans are told apart. */
function Started() {
  const { texts } = useLanguage();
  const { value: startUp, problem, reload } = useLoaded((signal) => anonymous.get<StartUp>('/config.json', { signal }), '');
  if (startUp) return <Site startUp={startUp} />;
  return (
    <main className="container">
      {problem ? <Failed problem={problem} title={texts.common.startFailed} onRetry={reload} /> : <Loading />}
    </main>
  );
}

function Site({ startUp }: { startUp: StartUp }) {
  const { texts } = useLanguage();
  const route = useRoute();
  const session = useMemo(() => {
    const caller = currentCaller(startUp.auth_mode);
    return { caller, tribina: new Tribina(startUp, caller), memory: new Memory(caller.fanId) };
  }, [startUp]);
  return (
    <TribinaContext value={session}>
      <a className="skip-link" href="#content">
        {texts.nav.skip}
      </a>
      <SiteHeader route={route} />
      <main className="container" id="content" tabIndex={-1}>
        <PageOf route={route} />
      </main>
      <SiteFooter />
    </TribinaContext>
  );
}

/** Keys make another match or order a new page instead of an old one with new numbers. */
function PageOf({ route }: { route: Route }) {
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
    case 'ops':
      return <OpsPage chosenId={route.matchId} />;
    case 'unknown':
      return <NotFoundPage />;
  }
}
