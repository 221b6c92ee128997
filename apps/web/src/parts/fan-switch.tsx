import { switchToNewFan } from '../api/caller.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

/**
 * The button to become another fan, only with AUTH_MODE=mock: there each browser has a random fan id and can switch to a new one.
 */
export function FanSwitch({ fanId }: { fanId: string }) {
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
