import type { InviteAnswer } from '#contracts/invitations';
import type { Sector } from '#contracts/sectors';
import { type FormEvent, useId, useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { type CsvFault, csvRows, listKeyOf, readCsvFile } from './csv-file.ts';
import { Field } from './field.tsx';
import { countVerdicts, InviteVerdicts } from './invite-verdicts.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

interface InviteListProps {
  quotaId: string;
  /** The sectors in which the quota has places. */
  sectors: readonly Pick<Sector, 'id' | 'name'>[];
  /** Called after people were invited, with what happened. */
  onInvited: (happened: string) => void;
}

/** A list that the API has given its verdicts about. */
interface CheckedList {
  csv: string;
  key: string;
  items: InviteAnswer['items'];
  isPreview: boolean;
}

/** The form that invites the people of a CSV file. Nobody is invited before the partner has seen the verdict about each row. */
export function InviteList({ quotaId, sectors, onInvited }: InviteListProps) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, setProblem, run } = useAction();
  const [file, setFile] = useState<File>();
  const [key, setKey] = useState('');
  const [fault, setFault] = useState<CsvFault | 'fileNeeded' | 'keyNeeded'>();
  const [checked, setChecked] = useState<CheckedList>();
  const result = useRef<HTMLDivElement>(null);
  const { list } = texts.quotas;

  /** What the form contains has changed, so its verdicts are no longer true. */
  const forget = () => {
    setChecked(undefined);
    setFault(undefined);
    setProblem(undefined);
  };
  const choose = (chosen: File | undefined) => {
    forget();
    setFile(chosen);
    // The name of the file is the first proposal: a file that is sent again after a reload has the same key.
    if (chosen) setKey(listKeyOf(chosen.name));
  };
  const check = async (event: FormEvent) => {
    event.preventDefault();
    forget();
    const listKey = listKeyOf(key);
    if (!file) return setFault('fileNeeded');
    if (!listKey) return setFault('keyNeeded');
    const csv = await readCsvFile(file);
    if ('fault' in csv) return setFault(csv.fault);
    const isChecked = await run(async () => {
      const { items } = await api.inviteByCsv(quotaId, csv.text, { list_key: listKey, dry_run: 'true' });
      setChecked({ csv: csv.text, key: listKey, items, isPreview: true });
    });
    if (isChecked) result.current?.focus();
  };
  const invite = async ({ csv, key: list_key }: CheckedList) => {
    await run(async () => {
      const { items } = await api.inviteByCsv(quotaId, csv, { list_key, dry_run: 'false' });
      setChecked({ csv, key: list_key, items, isPreview: false });
      onInvited(list.summary(false, countVerdicts(items)));
    });
  };

  const counts = countVerdicts(checked?.items ?? []);
  return (
    <section className="card invite-list" aria-labelledby="invite-list">
      <h2 id="invite-list">{list.title}</h2>
      <form className="invite-form" onSubmit={(event) => void check(event)} noValidate>
        <FileField onChange={choose} error={fault && fault !== 'keyNeeded' ? list[fault] : undefined} />
        <Field
          label={list.key}
          hint={list.keyHint}
          value={key}
          onChange={(value) => {
            forget();
            setKey(value);
          }}
          error={fault === 'keyNeeded' ? list.keyNeeded : undefined}
          maxLength={100}
          testId="list-key"
        />
        <FileFormat sectors={sectors} />
        <Button type="submit" disabled={busy} testId="check-list">
          {busy && !checked ? list.checking : list.check}
        </Button>
      </form>
      {problem && (
        <ProblemNotice problem={problem} text={problem.code === 'VALIDATION_FAILED' ? list.unreadable : undefined}>
          {problem.members.errors?.map(({ path, message }) => (
            <p key={path + message} lang="en">
              {message}
            </p>
          ))}
        </ProblemNotice>
      )}
      <div ref={result} tabIndex={-1} role="status" className="invite-result">
        {checked && <InviteVerdicts items={checked.items} rows={csvRows(checked.csv)} isPreview={checked.isPreview} />}
      </div>
      {checked?.isPreview && counts.created > 0 && (
        <Button tone="primary" disabled={busy} onClick={() => void invite(checked)} testId="confirm-list">
          {list.confirm(counts.created)}
        </Button>
      )}
      {checked?.isPreview && counts.created === 0 && <Notice tone="warning">{list.nothing}</Notice>}
      {checked && counts.refused > 0 && <p className="fine-print">{list.repair}</p>}
    </section>
  );
}

function FileField({ onChange, error }: { onChange: (file: File | undefined) => void; error: string | undefined }) {
  const { texts } = useStaffLanguage();
  const id = useId();
  const { list } = texts.quotas;
  return (
    <div className={error ? 'field field-faulty' : 'field'}>
      <label htmlFor={id}>{list.file}</label>
      <p id={`${id}-hint`} className="field-hint">
        {list.fileHint}
      </p>
      <input
        id={id}
        type="file"
        accept=".csv,text/csv"
        onChange={(event) => onChange(event.target.files?.[0])}
        aria-invalid={error !== undefined}
        aria-describedby={error ? `${id}-hint ${id}-fault` : `${id}-hint`}
        data-testid="list-file"
      />
      {error && (
        <p id={`${id}-fault`} className="field-fault" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function FileFormat({ sectors }: Pick<InviteListProps, 'sectors'>) {
  const { texts } = useStaffLanguage();
  const { list } = texts.quotas;
  return (
    <details className="invite-format">
      <summary>{list.format}</summary>
      <p>{list.formatText}</p>
      <pre>{'email;name;quantity\nana@example.com;Ana Horvat;2'}</pre>
      <p>{list.sectorIds}</p>
      <ul>
        {sectors.map(({ id, name }) => (
          <li key={id}>
            {name}: <code>{id}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
