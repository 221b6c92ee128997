import type { JobState, QueueName } from '#contracts/jobs';
import { useEffect, useState } from 'react';

/** The search starts when nobody has typed for this time. */
const TYPING_PAUSE_MS = 300;
/** What the API accepts as a template, or the beginning of one while it is typed. */
const TEMPLATE = /^[\w.-]{0,100}$/;

/** Which jobs the page shows. An omitted field does not restrict the list. */
export interface JobFilter {
  readonly state?: JobState;
  readonly queue?: QueueName;
  readonly template?: string;
  readonly q?: string;
}

/** What the filter's fields contain. An empty field does not restrict the list. */
export interface JobFilterInput {
  readonly state: JobState | '';
  readonly queue: QueueName | '';
  readonly template: string;
  readonly q: string;
}

/** The filter that the fields describe; undefined if the API would refuse it. */
export function filterOf({ state, queue, template, q }: JobFilterInput): JobFilter | undefined {
  const [wantedTemplate, text] = [template.trim(), q.trim()];
  if (!TEMPLATE.test(wantedTemplate)) return undefined;
  return {
    ...(state ? { state } : {}),
    ...(queue ? { queue } : {}),
    ...(wantedTemplate ? { template: wantedTemplate } : {}),
    ...(text ? { q: text } : {}),
  };
}

/** The fields of the filter, and the filter itself, which follows them after a pause in typing. */
export function useJobFilter(first: JobFilterInput) {
  const [input, setInput] = useState(first);
  const [filter, setFilter] = useState<JobFilter>(filterOf(first) ?? {});
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = filterOf(input);
      if (next) setFilter((previous) => (JSON.stringify(previous) === JSON.stringify(next) ? previous : next));
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [input]);
  const change = (changed: Partial<JobFilterInput>) => setInput((previous) => ({ ...previous, ...changed }));
  return { input, filter, change, isTemplateFaulty: filterOf(input) === undefined };
}
