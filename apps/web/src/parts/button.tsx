import { type ComponentProps, useState } from 'react';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  tone?: 'primary' | 'warning' | 'danger' | 'quiet';
  wide?: boolean;
  testId?: string;
}

/** A button in the style of the page. */
export function Button({ tone, wide, testId, type = 'button', ...rest }: ButtonProps) {
  const className = ['button', tone && `button-${tone}`, wide && 'button-wide'].filter(Boolean).join(' ');
  return <button type={type} className={className} data-testid={testId} {...rest} />;
}

interface ConfirmButtonProps {
  texts: { label: string; question: string; yes: string; no: string };
  onConfirm: () => void;
  disabled?: boolean;
  /** How the confirming button looks. The button that only asks is quiet. */
  tone?: 'primary' | 'danger';
  testId: string;
}

/** A button that asks for confirmation. The question replaces the button; a dialog would cover the countdown. */
export function ConfirmButton({ texts, onConfirm, disabled, tone = 'danger', testId }: ConfirmButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  const [isCancelled, setIsCancelled] = useState(false);
  if (!isAsking) {
    return (
      // After "no" the focus returns to this button, so that the keyboard continues here and not at the top of the page.
      <Button tone="quiet" disabled={disabled} autoFocus={isCancelled} onClick={() => setIsAsking(true)} testId={testId}>
        {texts.label}
      </Button>
    );
  }
  const confirm = () => {
    setIsAsking(false);
    setIsCancelled(false);
    onConfirm();
  };
  const cancel = () => {
    setIsAsking(false);
    setIsCancelled(true);
  };
  return (
    <div className="confirm" role="group" aria-label={texts.question}>
      <p>{texts.question}</p>
      <div className="button-row">
        <Button tone={tone} disabled={disabled} autoFocus onClick={confirm} testId={`${testId}-yes`}>
          {texts.yes}
        </Button>
        <Button onClick={cancel}>{texts.no}</Button>
      </div>
    </div>
  );
}
