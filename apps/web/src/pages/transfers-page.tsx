import type { Profile } from '#contracts/fans';
import type { Match } from '#contracts/matches';
import type { Transfer } from '#contracts/transfers';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Button } from '../parts/button.tsx';
import { type FieldErrors, validatePerson } from '../parts/checkout-errors.ts';
import { Field } from '../parts/field.tsx';
import { Link } from '../parts/link.tsx';
import { Loading, ProblemNotice } from '../parts/notice.tsx';
import { OfferCard } from '../parts/offer-card.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useAction } from '../parts/use-action.ts';
import { useFaultFocus } from '../parts/use-fault-focus.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';

/** How often the page asks for new offers. */
const refreshMs = 15_000;

interface OffersData {
  offers: readonly Transfer[];
  matches: readonly Match[];
  profile: Profile;
}

/** The page to which the mail about an offered ticket leads: tickets that others offer to the fan, and all earlier offers. */
export function TransfersPage() {
  const { texts } = useLanguage();
  const { api, caller } = useAppServices();
  const load = async (signal: AbortSignal): Promise<OffersData> => {
    const [{ items: offers }, profile] = await Promise.all([api.transfers(signal), api.profile(signal)]);
    const ids = [...new Set(offers.map((offer) => offer.match_id))];
    return { offers, profile, matches: await Promise.all(ids.map((id) => api.match(id, signal))) };
  };
  const { value, problem, reload } = useLoaded(load, caller.signedIn ? 'transfers' : undefined, refreshMs);
  return (
    <>
      <PageTitle>{texts.transfers.title}</PageTitle>
      {!caller.signedIn && <p className="empty">{texts.fan.needed}</p>}
      {caller.signedIn && !value && <Loading problem={problem} onRetry={reload} />}
      {value && <Offers {...value} onChange={reload} />}
    </>
  );
}

/** The open offers to the fan, and a list of all offers. */
export function Offers({ offers, matches, profile, onChange }: OffersData & { onChange: () => void }) {
  const { texts, format } = useLanguage();
  const { caller } = useAppServices();
  const matchOf = (offer: Transfer) => matches.find(({ id }) => id === offer.match_id);
  const open = offers.filter(({ role, status }) => role === 'receiver' && status === 'offered');
  return (
    <>
      {open.length === 0 && <p className="empty">{texts.transfers.none}</p>}
      <ul className="ticket-list">
        {open.map((offer) => (
          <OfferCard key={offer.id} offer={offer} match={matchOf(offer)} ownName={profile.name ?? ''} onChange={onChange} />
        ))}
      </ul>
      {caller.mode === 'mock' && profile.email === null && <OwnAddress profile={profile} onSaved={onChange} />}
      {caller.mode === 'mock' && profile.email && <p className="fine-print">{texts.transfers.toAddress(profile.email)}</p>}
      {offers.length > 0 && (
        <section className="card order-history" aria-labelledby="all-offers">
          <h2 id="all-offers">{texts.transfers.earlier}</h2>
          <ol>
            {offers.map((offer) => {
              const match = matchOf(offer);
              return (
                <li key={offer.id} data-testid="offer-row" data-status={offer.status}>
                  <time dateTime={offer.created_at}>{format.dateTime(offer.created_at)}</time>
                  <span>
                    {offer.role === 'giver' ? texts.transfers.given : texts.transfers.received}: {match ? matchTitle(match) : ''},{' '}
                    {texts.transfers.statuses[offer.status]}
                  </span>
                </li>
              );
            })}
          </ol>
        </section>
      )}
      <p>
        <Link to={paths.tickets}>{texts.tickets.title}</Link>
      </p>
    </>
  );
}

/** In mock mode an offer to an address belongs to the fan whose profile has it. With AUTH_MODE=jwt the sign-in tells the address. */
function OwnAddress({ profile, onSaved }: { profile: Profile; onSaved: () => void }) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const [email, setEmail] = useState('');
  const [errors, setErrors] = useState<FieldErrors>({});
  const form = useFaultFocus(errors);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = validatePerson({ email }, texts);
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    void run(() => api.changeProfile({ ...profile, email: email.trim() })).then((isSaved) => isSaved && onSaved());
  };
  return (
    <form className="card card-narrow stage" ref={form} onSubmit={submit} noValidate aria-labelledby="own-address">
      <h2 id="own-address">{texts.transfers.addressTitle}</h2>
      <p className="fine-print">{texts.transfers.addressText}</p>
      <Field
        label={texts.checkout.email}
        type="email"
        value={email}
        onChange={setEmail}
        error={errors.email}
        autoComplete="email"
        maxLength={254}
        testId="own-address"
      />
      {problem && <ProblemNotice problem={problem} />}
      <Button type="submit" disabled={busy} testId="save-address">
        {texts.transfers.saveAddress}
      </Button>
    </form>
  );
}
