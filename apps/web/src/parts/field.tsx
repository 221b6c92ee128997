import { useId } from 'react';

interface FieldProps {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
  error?: string;
  type?: 'text' | 'search' | 'email' | 'number' | 'datetime-local';
  autoComplete?: string;
  placeholder?: string;
  maxLength?: number;
  /** The field has several lines. */
  rows?: number;
  testId: string;
}

/**
 * A labelled input field. Its hint and its error are linked to the input with ARIA, so that screen readers read them with the
 * label.
 */
export function Field({ label, hint, onChange, error, type = 'text', rows, testId, ...rest }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-fault`].filter(Boolean).join(' ');
  const attributes = {
    'aria-invalid': error !== undefined,
    'aria-describedby': described || undefined,
    ...{ 'data-testid': testId, autoComplete: 'off', ...rest },
  };
  return (
    <div className={error ? 'field field-faulty' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {rows ? (
        <textarea id={id} {...attributes} rows={rows} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input
          id={id}
          type={type === 'number' ? 'text' : type}
          inputMode={type === 'number' ? 'numeric' : undefined}
          onChange={(event) => onChange(event.target.value)}
          {...attributes}
        />
      )}
      {error && (
        <p id={`${id}-fault`} className="field-fault">
          {error}
        </p>
      )}
    </div>
  );
}
