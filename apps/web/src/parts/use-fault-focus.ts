import { useEffect, useRef } from 'react';
import type { Faults } from './quota-input.ts';

/** Moves the focus to the first faulty field of a form, when it is found to be faulty or the service refuses it. Returns the form's ref. */
export function useFaultFocus(faults: Faults) {
  const form = useRef<HTMLFormElement>(null);
  const paths = Object.keys(faults).join(' ');
  useEffect(() => {
    if (paths !== '') form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [paths]);
  return form;
}
