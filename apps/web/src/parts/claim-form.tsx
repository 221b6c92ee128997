import type { Profile } from '#contracts/fans';
import type { InvitationLookup } from '#contracts/invitations';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { type FieldErrors, validatePerson } from './checkout-errors.ts';
import { Field } from './field.tsx';
import { ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';
import { useFaultFocus } from './use-fault-focus.ts';

interface ClaimFormProps {
  token: string;
  invitation: InvitationLookup;
  profile: Profile;
  label: string;
  /** Called when the claim was refused, perhaps because the invitation has changed. */
  onRefused: (problem: Problem) => void;
}

/** The button that claims an invitation. A fan without a name or an address enters them first, which makes the account. */
export function ClaimForm({ token, invitation, profile, label, onRefused }: ClaimFormProps) {
  const { texts, language } = useLanguage();
  const { api, purchaseStore } = useAppServices();
  const { busy, problem, run } = useAction();
  const [person, setPerson] = useState({ name: profile.name ?? '', email: profile.email ?? '' });
  const [errors, setErrors] = useState<FieldErrors>({});
  const form = useFaultFocus(errors);
  const needsAccount = profile.name === null || profile.email === null;
  const matchId = invitation.match.id;

  const claim = async () => {
    const [name, email] = [person.name.trim(), person.email.trim()];
    try {
      if (needsAccount) {
        const locale = profile.name === null && profile.email === null ? language : profile.locale;
        await api.changeProfile({ name, email, locale });
      }
      const reservation = await api.claimInvitation(token);
      purchaseStore.forgetPurchase(matchId);
      purchaseStore.update(matchId, { reservationId: reservation.id, isInvited: true });
      const holders = reservation.seats.map(({ seat_id }, index) => ({ seat_id, name: index === 0 ? name : '' }));
      purchaseStore.writeHolders(matchId, { holders, email });
      navigate(paths.checkout(matchId));
    } catch (caught) {
      onRefused(toProblem(caught));
      throw caught;
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = needsAccount ? validatePerson(person, texts) : {};
    setErrors(found);
    if (Object.keys(found).length === 0) void run(claim);
  };

  return (
    <form className="claim-form" ref={form} onSubmit={submit} noValidate>
      {needsAccount && (
        <fieldset className="claim-account">
          <legend>{texts.invitation.account.title}</legend>
          <p className="fine-print">{texts.invitation.account.text}</p>
          <Field
            label={texts.checkout.holderName}
            value={person.name}
            onChange={(name) => setPerson({ ...person, name })}
            error={errors.name}
            autoComplete="name"
            maxLength={100}
            testId="account-name"
          />
          <Field
            label={texts.checkout.email}
            hint={texts.invitation.account.emailHint}
            type="email"
            value={person.email}
            onChange={(email) => setPerson({ ...person, email })}
            error={errors.email}
            autoComplete="email"
            maxLength={254}
            testId="account-email"
          />
        </fieldset>
      )}
      {problem && <ProblemNotice problem={problem} text={problem.code === 'NOT_FOUND' ? texts.invitation.notYours : undefined} />}
      <Button type="submit" tone="primary" wide disabled={busy} testId="claim">
        {busy ? texts.invitation.claiming : label}
      </Button>
    </form>
  );
}
