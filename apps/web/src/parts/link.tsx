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

/** A real link, so that opening in a new tab and copying work; a plain click stays on the page. */
export function Link({ to, children, className, testId, current, label }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a
      href={to}
      className={className}
      onClick={follow}
      data-testid={testId}
      aria-current={current ? 'page' : undefined}
      aria-label={label}
    >
      {children}
    </a>
  );
}
