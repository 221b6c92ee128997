import { becomeSomebodyElse } from '../api/caller.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

/** Mock mode only: everybody who opens the page is a fan of their own, and may become another one. */
export function FanSwitch({ fanId }: { fanId: string }) {
  const { texts } = useLanguage();
  const change = () => {
    becomeSomebodyElse();
    // A full load, so that no open connection or remembered answer of the former fan survives.
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
