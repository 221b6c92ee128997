import type { JobState, QueueCounts, QueueName } from '#contracts/jobs';
import { useStaffLanguage } from '../text/staff-language.ts';

/** The columns. The failed jobs come first, because a phone shows only the first columns until the operator scrolls. */
const states = ['failed', 'waiting', 'delayed', 'active', 'completed'] as const satisfies readonly JobState[];

interface OpsJobCountsProps {
  counts: readonly QueueCounts[];
  onShow: (queue: QueueName, state: JobState) => void;
}

/** How many jobs each queue has in each state. A number is a button that shows these jobs, unless the list cannot show them. */
export function OpsJobCounts({ counts, onShow }: OpsJobCountsProps) {
  const { texts, format } = useStaffLanguage();
  const jobTexts = texts.opsJobs;
  return (
    // On a phone the table scrolls. Its numbers are not always buttons, so the keyboard reaches it by its frame (WCAG 2.1.1).
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="job-counts" role="group" aria-label={jobTexts.counts.title} tabIndex={0}>
      <table data-testid="job-counts">
        <thead>
          <tr>
            <th scope="col">{jobTexts.queue}</th>
            {states.map((state) => (
              <th key={state} scope="col">
                {jobTexts.states[state]}
              </th>
            ))}
            <th scope="col">{jobTexts.counts.oldest}</th>
          </tr>
        </thead>
        <tbody>
          {counts.map((row) => (
            <tr key={row.queue}>
              <th scope="row">{jobTexts.queues[row.queue]}</th>
              {states.map((state) => {
                const count = format.number(row[state]);
                // The list has only those messages of the outbox that are parked.
                const isListed = row[state] > 0 && (row.queue !== 'outbox' || state === 'failed');
                return (
                  <td key={state} data-testid={`job-count-${row.queue}-${state}`}>
                    {isListed ? (
                      <button
                        type="button"
                        className={state === 'failed' ? 'job-count job-count-failed' : 'job-count'}
                        aria-label={jobTexts.counts.show(count, jobTexts.states[state], jobTexts.queues[row.queue])}
                        onClick={() => onShow(row.queue, state)}
                      >
                        {count}
                      </button>
                    ) : (
                      count
                    )}
                  </td>
                );
              })}
              <td>{row.oldest_waiting_seconds > 0 && jobTexts.counts.seconds(format.number(row.oldest_waiting_seconds))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
