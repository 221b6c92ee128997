import { useAppServices } from '../api/app-services.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { FanSwitch } from './fan-switch.tsx';
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
          <Link to={paths.ops()}>{texts.nav.operators}</Link>
        </div>
      </div>
    </footer>
  );
}
