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

/** A button that asks for confirmation. The question replaces the button; a dialog would cover the countdown. */
export function ConfirmButton({ label, question, yes, no, onConfirm, disabled, testId }: ConfirmButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  if (!isAsking) {
    return (
      <button
        type="button"
        className="button button-quiet"
        disabled={disabled}
        onClick={() => setIsAsking(true)}
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
            setIsAsking(false);
            onConfirm();
          }}
          data-testid={testId && `${testId}-yes`}
        >
          {yes}
        </button>
        <button type="button" className="button" onClick={() => setIsAsking(false)}>
          {no}
        </button>
      </div>
    </div>
  );
}
