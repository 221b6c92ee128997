import type { MouseEvent, ReactNode } from 'react';
import { navigate } from '../routes.ts';

interface LinkProps {
  to: string;
  children: ReactNode;
  className?: string;
  testId?: string;
  current?: boolean;
  label?: string;
}

/**
 * A link to another page of the app. It is a real `<a>`, so that the fan can copy the address or open it in a new tab. A plain
 * click navigates without a page load.
 */
export function Link({ to, children, className, testId, current, label }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a
      href={to}
      className={className}
      onClick={onClick}
      data-testid={testId}
      aria-current={current ? 'page' : undefined}
      aria-label={label}
    >
      {children}
    </a>
  );
}
