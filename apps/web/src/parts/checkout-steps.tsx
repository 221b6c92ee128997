import { useLanguage } from '../text/language.tsx';
import { Icon } from './icon.tsx';

/** The list of the steps of a purchase, with the current step marked. */
export function CheckoutSteps({ now }: { now: 'details' | 'payment' }) {
  const { texts } = useLanguage();
  const names = [texts.checkout.stepSeats, texts.checkout.stepDetails, texts.checkout.stepPayment];
  const current = now === 'details' ? 1 : 2;
  return (
    <ol className="steps" aria-label={texts.checkout.steps}>
      {names.map((name, index) => (
        <li
          key={name}
          className={index < current ? 'step step-done' : 'step'}
          aria-current={index === current ? 'step' : undefined}
        >
          <span className="step-sign" aria-hidden="true">
            {index < current ? <Icon name="check" /> : index + 1}
          </span>
          {name}
        </li>
      ))}
    </ol>
  );
}
