import type { Profile } from '#contracts/fans';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Button } from '../parts/button.tsx';
import { type FieldErrors, validatePerson } from '../parts/checkout-errors.ts';
import { EraseAccount } from '../parts/erase-account.tsx';
import { ExportAccount } from '../parts/export-account.tsx';
import { Field } from '../parts/field.tsx';
import { Loading, Notice, ProblemNotice } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Select } from '../parts/select.tsx';
import { useAction } from '../parts/use-action.ts';
import { useFaultFocus } from '../parts/use-fault-focus.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../text/language.tsx';
import { languages } from '../text/texts.ts';

/** What is kept of a profile that was erased. */
const noProfile: Profile = { email: null, name: null, locale: 'hr' };

/** The fan's own page: the profile, a file with all that is kept, and how to erase it. */
export function AccountPage() {
  const { texts } = useLanguage();
  const { api, caller } = useAppServices();
  const { value, problem, reload } = useLoaded((signal) => api.profile(signal), caller.signedIn ? 'account' : undefined);
  return (
    <>
      <PageTitle>{texts.account.title}</PageTitle>
      {!caller.signedIn && <p className="empty">{texts.fan.needed}</p>}
      {caller.signedIn && !value && <Loading problem={problem} onRetry={reload} />}
      {value && <AccountSections profile={value} />}
    </>
  );
}

/** The sections of the page, for a fan who is signed in. */
export function AccountSections({ profile }: { profile: Profile }) {
  const [isErased, setIsErased] = useState(false);
  return (
    <>
      {/* Another key, so that the fields forget what they had. */}
      <ProfileForm key={String(isErased)} profile={isErased ? noProfile : profile} />
      <ExportAccount />
      <EraseAccount onErased={() => setIsErased(true)} />
    </>
  );
}

function ProfileForm({ profile }: { profile: Profile }) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const [email, setEmail] = useState(profile.email ?? '');
  const [name, setName] = useState(profile.name ?? '');
  const [locale, setLocale] = useState(profile.locale);
  const [errors, setErrors] = useState<FieldErrors>({});
  const [isSaved, setIsSaved] = useState(false);
  const { busy, problem, run } = useAction();
  const form = useFaultFocus(errors);

  const save = async (event: FormEvent) => {
    event.preventDefault();
    const [address, fullName] = [email.trim(), name.trim()];
    const found = address === '' ? {} : validatePerson({ email: address }, texts);
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    const changed = { email: address === '' ? null : address, name: fullName === '' ? null : fullName, locale };
    setIsSaved(await run(() => api.changeProfile(changed)));
  };

  return (
    <form
      className="card card-narrow stage"
      ref={form}
      onSubmit={(event) => void save(event)}
      noValidate
      aria-labelledby="profile"
    >
      <h2 id="profile">{texts.account.profile}</h2>
      <p className="fine-print">{texts.account.profileText}</p>
      <Field
        label={texts.checkout.email}
        type="email"
        value={email}
        onChange={setEmail}
        error={errors.email}
        autoComplete="email"
        maxLength={254}
        testId="account-email"
      />
      <Field
        label={texts.account.name}
        value={name}
        onChange={setName}
        autoComplete="name"
        maxLength={100}
        testId="account-name"
      />
      <Select
        label={texts.account.language}
        value={locale}
        options={(['hr', 'en'] as const).map((each) => [each, languages[each].languageName])}
        onChange={(chosen) => chosen && setLocale(chosen)}
        testId="account-locale"
      />
      {problem && <ProblemNotice problem={problem} />}
      {isSaved && !problem && <Notice tone="good">{texts.account.saved}</Notice>}
      <Button type="submit" disabled={busy} testId="account-save">
        {texts.account.save}
      </Button>
    </form>
  );
}
