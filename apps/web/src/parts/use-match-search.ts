import { useEffect, useState } from 'react';
import { type Loaded, useLoaded } from './use-loaded.ts';

/** Up to this many matches fit on a screen or two, so that a search would not help. */
const MAX_WITHOUT_SEARCH = 10;
/** The search starts when nobody has typed for this time. */
const TYPING_PAUSE_MS = 300;

/** A list of matches, all or found by `text`. */
export interface MatchSearch<Match> extends Loaded<{ readonly items: readonly Match[] }> {
  /** What the field contains. */
  readonly input: string;
  /** What the list was searched for; empty if it has all matches. */
  readonly text: string;
  readonly isOffered: boolean;
  change(input: string): void;
  /** Searches at once, without waiting for the end of the typing. */
  submit(): void;
}

/** Whether the page has a search field. It stays while it contains something. */
export const isSearchOffered = (matches: number, input: string): boolean => matches > MAX_WITHOUT_SEARCH || input !== '';

/** Loads all matches, or those that the search field asks for, and refreshes them. `load` gets no text for all matches. */
export function useMatchSearch<Match>(
  load: (text: string | undefined, signal: AbortSignal) => Promise<{ readonly items: readonly Match[] }>,
  refreshMs: number,
): MatchSearch<Match> {
  const [input, change] = useState('');
  const [text, setText] = useState('');
  const wanted = input.trim();
  useEffect(() => {
    const timer = setTimeout(() => setText(wanted), wanted === '' ? 0 : TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const all = useLoaded((signal) => load(undefined, signal), 'all', refreshMs);
  const found = useLoaded((signal) => load(text, signal), text || undefined, refreshMs);
  const isOffered = isSearchOffered(all.value?.items.length ?? 0, input);
  return { ...(text ? found : all), input, text, isOffered, change, submit: () => setText(wanted) };
}
