import type { QuotaKind } from '#contracts/quota-kinds';
import type { Quota } from '#contracts/quotas';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Field } from './field.tsx';
import type { Faults, SettingsInput } from './quota-input.ts';
import { Select } from './select.tsx';

interface OpsQuotaFieldsProps {
  input: SettingsInput;
  faults: Faults;
  /** Free places can go back to a parent only if there is one. */
  hasParent: boolean;
  onChange: (changed: Partial<SettingsInput>) => void;
}

/** The fields for what an operator can set when creating a quota and change later. */
export function OpsQuotaFields({ input, faults, hasParent, onChange }: OpsQuotaFieldsProps) {
  const { texts } = useStaffLanguage();
  const { fields, onReturn, kinds } = texts.opsQuotas;
  const choices = (Object.entries(onReturn) as [Quota['on_return'], string][]).filter(([to]) => to !== 'parent' || hasParent);
  const toggle = (kind: QuotaKind) =>
    onChange({
      neverTo: input.neverTo.includes(kind) ? input.neverTo.filter((other) => other !== kind) : [...input.neverTo, kind],
    });
  return (
    <>
      <div className="quota-fields">
        <Field
          label={fields.contact}
          hint={fields.contactHint}
          type="email"
          value={input.contact}
          onChange={(contact) => onChange({ contact })}
          maxLength={254}
          error={faults.contact_email}
          testId="quota-contact"
        />
        <Field
          label={fields.maxPerInvitation}
          hint={fields.maxPerInvitationHint}
          type="number"
          value={input.maxPerInvitation}
          onChange={(maxPerInvitation) => onChange({ maxPerInvitation })}
          maxLength={2}
          error={faults.max_per_invitation}
          testId="quota-max"
        />
      </div>
      <div className="quota-fields">
        <Field
          label={fields.opensAt}
          hint={fields.opensAtHint}
          type="datetime-local"
          value={input.opensAt}
          onChange={(opensAt) => onChange({ opensAt })}
          error={faults.opens_at}
          testId="quota-opens-at"
        />
        <Field
          label={fields.claimUntil}
          hint={fields.claimUntilHint}
          type="datetime-local"
          value={input.claimUntil}
          onChange={(claimUntil) => onChange({ claimUntil })}
          error={faults.claim_until}
          testId="quota-claim-until"
        />
        <Field
          label={fields.returnAt}
          hint={fields.returnAtHint}
          type="datetime-local"
          value={input.returnAt}
          onChange={(returnAt) => onChange({ returnAt })}
          error={faults.return_at}
          testId="quota-return-at"
        />
        <Select
          label={fields.onReturn}
          hint={fields.onReturnHint}
          value={input.onReturn}
          options={choices}
          onChange={(to) => to && onChange({ onReturn: to })}
          error={faults.on_return}
          testId="quota-on-return"
        />
      </div>
      <fieldset className="quota-kinds">
        <legend>{fields.neverTo}</legend>
        {(Object.entries(kinds) as [QuotaKind, string][]).map(([kind, name]) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={input.neverTo.includes(kind)}
              onChange={() => toggle(kind)}
              data-testid={`quota-never-${kind}`}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <Field
        label={fields.members}
        hint={fields.membersHint}
        rows={3}
        value={input.members}
        onChange={(members) => onChange({ members })}
        error={faults.members}
        testId="quota-members"
      />
    </>
  );
}
