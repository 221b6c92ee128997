import { useEffect, useRef } from 'react';

/**
 * Moves the focus to the first faulty field of a form, after each attempt to send it. `faults` are the texts of the faulty fields: a
 * state or memoized, so that they are a new object only if the form or the service has found them again. Returns the form's ref.
 */
export function useFaultFocus(faults: Readonly<Record<string, string>>) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(faults).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [faults]);
  return form;
}
