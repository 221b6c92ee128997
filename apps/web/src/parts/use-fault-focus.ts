import { useEffect, useRef } from 'react';
import type { Faults } from './quota-input.ts';

/** Moves the focus to the first faulty field of a form when the form is found to be faulty. Returns the ref of the form. */
export function useFaultFocus(faults: Faults) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(faults).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [faults]);
  return form;
}
