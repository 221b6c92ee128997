import { useId } from 'react';
import { useLanguage } from '../text/language.tsx';

interface QuantityPickerProps {
  value: number;
  max: number;
  onChange: (value: number) => void;
}

/** The field and the buttons for the number of seats, from 1 to `max`. */
export function QuantityPicker({ value, max, onChange }: QuantityPickerProps) {
  const { texts } = useLanguage();
  const id = useId();
  const set = (next: number) => onChange(Math.min(max, Math.max(1, Math.round(next) || 1)));
  return (
    <div className="quantity">
      <label htmlFor={id}>{texts.seats.quantity}</label>
      <div className="stepper">
        <button type="button" onClick={() => set(value - 1)} disabled={value <= 1} aria-label={texts.seats.fewer}>
          −
        </button>
        <input
          id={id}
          type="number"
          inputMode="numeric"
          min={1}
          max={max}
          value={value}
          onChange={(event) => set(event.target.valueAsNumber)}
          data-testid="quantity"
        />
        <button type="button" onClick={() => set(value + 1)} disabled={value >= max} aria-label={texts.seats.more}>
          +
        </button>
      </div>
    </div>
  );
}
