import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { serverNow } from '../api/server-clock.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { type FieldErrors, validatePerson } from './checkout-errors.ts';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { isoTime } from './quota-input.ts';
import { Select } from './select.tsx';
import { useAction } from './use-action.ts';
import { useFaultFocus } from './use-fault-focus.ts';

interface InvitePersonProps {
  quota: Pick<Quota, 'id' | 'max_per_invitation'>;
  /** The sectors in which the quota has places. */
  sectors: readonly Pick<Sector, 'id' | 'name'>[];
  /** Called after the person was invited, with what happened. */
  onInvited: (happened: string) => void;
}

const empty = { email: '', name: '', quantity: '1', sector: '', note: '', end: '' };

/** The form that invites one person. */
export function InvitePerson({ quota, sectors, onInvited }: InvitePersonProps) {
  const { texts, language } = useStaffLanguage();
  const { form, person, change, locale, setLocale, errors, refusal, problem, busy, submit } = useInvitePerson({
    quota,
    onInvited,
  });
  const personTexts = texts.quotas.person;
  const max = quota.max_per_invitation;

  return (
    <section className="card invite-person" aria-labelledby="invite-person">
      <h2 id="invite-person">{personTexts.title}</h2>
      <p className="fine-print">{personTexts.text}</p>
      <form className="invite-form" ref={form} onSubmit={submit} noValidate>
        <Field
          label={personTexts.email}
          type="email"
          value={person.email}
          onChange={(email) => change({ email })}
          error={errors.email}
          maxLength={254}
          testId="invite-email"
        />
        <Field
          label={personTexts.name}
          value={person.name}
          onChange={(name) => change({ name })}
          maxLength={100}
          testId="invite-name"
        />
        <div className="invite-fields">
          <Field
            label={personTexts.quantity}
            hint={personTexts.quantityHint(max)}
            type="number"
            value={person.quantity}
            onChange={(quantity) => change({ quantity })}
            error={errors.quantity}
            maxLength={2}
            testId="invite-quantity"
          />
          <Select
            label={personTexts.language}
            value={locale}
            options={Object.entries(personTexts.languages) as ['hr' | 'en', string][]}
            onChange={(chosen) => setLocale(chosen || language)}
            testId="invite-locale"
          />
        </div>
        {sectors.length > 1 && (
          <Select
            label={personTexts.sector}
            value={person.sector}
            all={personTexts.anySector}
            options={sectors.map(({ id, name }) => [id, name] as const)}
            onChange={(sector) => change({ sector })}
            testId="invite-sector"
          />
        )}
        <Field
          label={personTexts.note}
          value={person.note}
          onChange={(note) => change({ note })}
          maxLength={200}
          testId="invite-note"
        />
        <Field
          label={personTexts.end}
          hint={personTexts.endHint}
          type="datetime-local"
          value={person.end}
          onChange={(end) => change({ end })}
          error={errors.end}
          testId="invite-end"
        />
        {problem && <ProblemNotice problem={problem} />}
        {refusal && (
          <Notice tone="bad" testId="invite-refused">
            <p>{refusal.code === 'QUOTA_EXCEEDED' ? texts.quotas.list.tooFew : personTexts.fault}</p>
            {refusal.code !== 'QUOTA_EXCEEDED' && <p lang="en">{refusal.message}</p>}
          </Notice>
        )}
        <Button type="submit" tone="primary" disabled={busy} testId="invite">
          {personTexts.submit}
        </Button>
      </form>
    </section>
  );
}

/** What the form contains, its errors, and the function that sends it. */
function useInvitePerson({ quota, onInvited }: Pick<InvitePersonProps, 'quota' | 'onInvited'>) {
  const { texts, language } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const [person, setPerson] = useState(empty);
  const [locale, setLocale] = useState<'hr' | 'en'>(language);
  const [errors, setErrors] = useState<FieldErrors>({});
  const [refusal, setRefusal] = useState<{ code?: string; message?: string }>();
  const form = useFaultFocus(errors);
  const personTexts = texts.quotas.person;
  const max = quota.max_per_invitation;
  const change = (changed: Partial<typeof empty>) => setPerson({ ...person, ...changed });

  const invite = async () => {
    const [email, name, note] = [person.email.trim(), person.name.trim(), person.note.trim()];
    const row = {
      ...{ email, locale, quantity: Number(person.quantity) },
      ...(name ? { name } : {}),
      ...(note ? { note } : {}),
      ...(person.sector ? { sector_id: person.sector } : {}),
    };
    const expires_at = isoTime(person.end) ?? undefined;
    const { items } = await api.invite(quota.id, { expires_at, invitations: [row] });
    const [verdict] = items;
    if (verdict?.status === 'refused') return setRefusal(verdict);
    setPerson(empty);
    form.current?.querySelector<HTMLElement>('input')?.focus();
    onInvited(personTexts.done(email));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = validatePerson({ email: person.email }, texts);
    const count = Number(person.quantity);
    if (!/^\d+$/.test(person.quantity.trim()) || count < 1 || count > max) found.quantity = personTexts.quantityFault(max);
    if (person.end && Date.parse(person.end) <= serverNow()) found.end = personTexts.endFault;
    setErrors(found);
    setRefusal(undefined);
    if (Object.keys(found).length === 0) void run(invite);
  };

  return { form, person, change, locale, setLocale, errors, refusal, problem, busy, submit };
}
