import { useId } from 'react';

interface SelectProps<Value extends string> {
  label: string;
  hint?: string;
  value: Value | '';
  /** The text of the choice that means "no restriction" or "not chosen yet". Without it there is no such choice. */
  all?: string;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value | '') => void;
  error?: string;
  testId: string;
}

/** A labelled list of choices. */
export function Select<Value extends string>({ label, hint, value, all, options, onChange, error, testId }: SelectProps<Value>) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className={error ? 'field field-faulty' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value as Value | '')}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={described || undefined}
        data-testid={testId}
      >
        {all !== undefined && <option value="">{all}</option>}
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {error && (
        <p id={`${id}-fault`} className="field-fault">
          {error}
        </p>
      )}
    </div>
  );
}
