import { paths, type Route } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { type Language, languages } from '../text/texts.ts';
import { Link } from './link.tsx';

export function SiteHeader({ route }: { route: Route }) {
  const { texts } = useLanguage();
  const inShop = route.page === 'matches' || route.page === 'match' || route.page === 'checkout';
  return (
    <header className="site-header">
      <div className="container site-header-row">
        <Link to={paths.matches} className="brand" label={texts.nav.home}>
          <BrandMark />
          <span className="brand-name">Tribina</span>
        </Link>
        <nav aria-label={texts.nav.label} className="site-nav">
          <Link to={paths.matches} current={inShop}>
            {texts.nav.matches}
          </Link>
          <Link to={paths.tickets} current={route.page === 'tickets' || route.page === 'order' || route.page === 'transfers'}>
            {texts.nav.tickets}
          </Link>
        </nav>
        <LanguageSwitch />
      </div>
    </header>
  );
}

function LanguageSwitch() {
  const { language, texts, changeLanguage } = useLanguage();
  return (
    <div className="language-switch" role="group" aria-label={texts.nav.language}>
      {(Object.keys(languages) as Language[]).map((each) => (
        <button
          key={each}
          type="button"
          lang={each}
          aria-pressed={each === language}
          // The name begins with the letters that are seen, so that people who speak to the browser can say them.
          aria-label={`${each.toUpperCase()}, ${languages[each].languageName}`}
          onClick={() => changeLanguage(each)}
        >
          {each.toUpperCase()}
        </button>
      ))}
    </div>
  );
}

/** The logo: the rows of a stand, rising to the right. */
function BrandMark() {
  return (
    <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M5 25h22M9 19h18M14 13h13M19 7h8" />
    </svg>
  );
}
