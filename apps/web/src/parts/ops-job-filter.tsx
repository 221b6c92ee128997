import type { JobState, QueueName } from '#contracts/jobs';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Field } from './field.tsx';
import { Select } from './select.tsx';
import type { JobFilterInput } from './use-job-filter.ts';

/** The longest search text that the API accepts. */
const MAX_LENGTH = 100;

interface OpsJobFilterProps {
  input: JobFilterInput;
  isTemplateFaulty: boolean;
  onChange: (changed: Partial<JobFilterInput>) => void;
}

/** The fields that restrict the list of jobs. The list follows each change. */
export function OpsJobFilter({ input, isTemplateFaulty, onChange }: OpsJobFilterProps) {
  const { texts } = useStaffLanguage();
  const jobTexts = texts.opsJobs;
  return (
    <form role="search" className="job-filter" onSubmit={(event) => event.preventDefault()} noValidate>
      <Select
        label={jobTexts.queue}
        value={input.queue}
        all={jobTexts.allQueues}
        options={Object.entries(jobTexts.queues) as [QueueName, string][]}
        onChange={(queue) => onChange({ queue })}
        testId="job-queue"
      />
      <Select
        label={jobTexts.state}
        value={input.state}
        all={jobTexts.allStates}
        options={Object.entries(jobTexts.states) as [JobState, string][]}
        onChange={(state) => onChange({ state })}
        testId="job-state"
      />
      <Field
        label={jobTexts.template}
        value={input.template}
        onChange={(template) => onChange({ template })}
        maxLength={MAX_LENGTH}
        error={isTemplateFaulty ? jobTexts.templateFault : undefined}
        testId="job-template"
      />
      <Field
        label={jobTexts.search}
        type="search"
        value={input.q}
        onChange={(q) => onChange({ q })}
        maxLength={MAX_LENGTH}
        testId="job-search"
      />
    </form>
  );
}
