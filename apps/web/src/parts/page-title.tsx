import { type ReactNode, useEffect, useRef } from 'react';
import { hasMoved } from '../routes.ts';

/** The page's heading. After a change of page it takes the focus, so that screen readers say where one is now. */
export function PageTitle({ children, documentTitle }: { children: ReactNode; documentTitle: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${documentTitle} · Tribina`;
  }, [documentTitle]);
  useEffect(() => {
    if (hasMoved()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className="page-title">
      {children}
    </h1>
  );
}
