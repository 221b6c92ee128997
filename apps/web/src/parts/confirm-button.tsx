import { useState } from 'react';

interface ConfirmButtonProps {
  label: string;
  question: string;
  yes: string;
  no: string;
  onConfirm: () => void;
  disabled?: boolean;
  testId?: string;
}

/** Asks back in place before something is given up; no dialog that covers the running clock. */
export function ConfirmButton({ label, question, yes, no, onConfirm, disabled, testId }: ConfirmButtonProps) {
  const [asking, setAsking] = useState(false);
  if (!asking) {
    return (
      <button
        type="button"
        className="button button-quiet"
        disabled={disabled}
        onClick={() => setAsking(true)}
        data-testid={testId}
      >
        {label}
      </button>
    );
  }
  return (
    <div className="confirm" role="group" aria-label={question}>
      <p>{question}</p>
      <div className="button-row">
        <button
          type="button"
          className="button button-danger"
          disabled={disabled}
          autoFocus
          onClick={() => {
            setAsking(false);
            onConfirm();
          }}
          data-testid={testId && `${testId}-yes`}
        >
          {yes}
        </button>
        <button type="button" className="button" onClick={() => setAsking(false)}>
          {no}
        </button>
      </div>
    </div>
  );
}
