import { useId } from 'react';

interface SelectProps<Value extends string> {
  label: string;
  value: Value | '';
  /** The text of the choice that means "no restriction" or "not chosen yet". Without it there is no such choice. */
  all?: string;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value | '') => void;
  error?: string;
  testId: string;
}

/** A labelled list of choices. */
export function Select<Value extends string>({ label, value, all, options, onChange, error, testId }: SelectProps<Value>) {
  const id = useId();
  return (
    <div className={error ? 'field field-faulty' : 'field'}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value as Value | '')}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={error && `${id}-fault`}
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
