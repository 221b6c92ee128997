import { useEffect, useRef } from 'react';
import { hasNavigated } from '../routes.ts';

/** The heading of a page. After a navigation the heading gets the focus, so that screen readers announce the new page. */
export function PageTitle({ children, documentTitle = children }: { children: string; documentTitle?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${documentTitle} · Tribina`;
  }, [documentTitle]);
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className="page-title">
      {children}
    </h1>
  );
}
