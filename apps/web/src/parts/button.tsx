import type { ComponentProps } from 'react';

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
