import { useId } from 'react';

interface SelectProps<Value extends string> {
  label: string;
  value: Value | '';
  /** The text of the choice that means "no restriction". Without it one of the options is always chosen. */
  all?: string;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value | '') => void;
  testId: string;
}

/** A labelled list of choices. */
export function Select<Value extends string>({ label, value, all, options, onChange, testId }: SelectProps<Value>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value as Value | '')} data-testid={testId}>
        {all !== undefined && <option value="">{all}</option>}
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
