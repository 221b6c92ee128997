import { useId } from 'react';

interface FieldProps {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
  fault?: string;
  type?: 'text' | 'email' | 'number' | 'datetime-local';
  autoComplete?: string;
  placeholder?: string;
  maxLength?: number;
  testId?: string;
}

/** A labelled input whose hint and fault belong to it for screen readers too. */
export function Field({
  label,
  hint,
  value,
  onChange,
  fault,
  type = 'text',
  autoComplete,
  placeholder,
  maxLength,
  testId,
}: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className={fault ? 'field field-faulty' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      <input
        id={id}
        type={type === 'number' ? 'text' : type}
        inputMode={type === 'number' ? 'numeric' : undefined}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoComplete={autoComplete}
        placeholder={placeholder}
        maxLength={maxLength}
        aria-invalid={fault !== undefined}
        aria-describedby={described || undefined}
        data-testid={testId}
      />
      {fault && (
        <p id={`${id}-fault`} className="field-fault">
          {fault}
        </p>
      )}
    </div>
  );
}
