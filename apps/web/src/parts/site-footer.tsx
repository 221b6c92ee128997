import { switchToNewFan } from '../api/caller.ts';
import { useAppServices } from '../api/app-services.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Link } from './link.tsx';
import { SignIn } from './sign-in.tsx';

export function SiteFooter() {
  const { texts } = useLanguage();
  const { caller } = useAppServices();
  return (
    <footer className="site-footer">
      <div className="container site-footer-row">
        {caller.mode === 'mock' ? <FanSwitch fanId={caller.fanId} /> : <SignIn />}
        <div className="site-footer-links">
          <span>{texts.tagline}</span>
          <Link to={paths.account}>{texts.account.title}</Link>
          <Link to={paths.quotas}>{texts.nav.partners}</Link>
          <Link to={paths.ops()}>{texts.nav.operators}</Link>
        </div>
      </div>
    </footer>
  );
}

/**
 * The button to become another fan, only with AUTH_MODE=mock: there each browser has a random fan id and can switch to a new one.
 */
function FanSwitch({ fanId }: { fanId: string }) {
  const { texts } = useLanguage();
  const change = () => {
    switchToNewFan();
    // A full page load ends the connections and drops the cached answers of the previous fan.
    location.assign(paths.matches);
  };
  return (
    <div className="fan-switch">
      <span className="tag">{texts.fan.demo}</span>
      <span title={fanId} data-testid="fan-id" data-fan-id={fanId}>
        {texts.fan.youAre(fanId.slice(0, 8))}
      </span>
      <button type="button" className="link-button" onClick={change} data-testid="become-somebody-else">
        {texts.fan.change}
      </button>
    </div>
  );
}
