import type { Profile } from '#contracts/fans';
import type { InvitationLookup } from '#contracts/invitations';
import type { Reservation } from '#contracts/reservations';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import { serverNow } from '../api/server-clock.ts';
import { useInvitationToken } from '../invitation-link.ts';
import { InvitationFacts } from '../parts/invitation-facts.tsx';
import { InvitationStage } from '../parts/invitation-stage.tsx';
import { invitationState } from '../parts/invitation-state.ts';
import { Link } from '../parts/link.tsx';
import { MatchFacts, TeamCrest } from '../parts/match-facts.tsx';
import { Loading, ProblemNotice } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';

/** How often the page asks whether the invitation can be claimed by now, was withdrawn or is claimed by somebody else. */
const refreshMs = 15_000;

/** What the page loads. */
interface InvitationData {
  invitation: InvitationLookup;
  /** The reservation that this browser knows for the match. */
  reservation: Reservation | undefined;
  /** Undefined for a fan who is not signed in. */
  profile: Profile | undefined;
}

/** The page that the link in the mail of an invitation opens. */
export function InvitationPage() {
  const token = useInvitationToken();
  return token ? <OpenedInvitation key={token} token={token} /> : <WrongLink />;
}

function OpenedInvitation({ token }: { token: string }) {
  const { texts } = useLanguage();
  const { api, caller, purchaseStore } = useAppServices();
  const load = async (signal: AbortSignal): Promise<InvitationData> => {
    const [invitation, profile] = await Promise.all([
      api.lookUpInvitation(token, signal),
      caller.signedIn ? api.profile(signal) : undefined,
    ]);
    const { reservationId } = purchaseStore.read(invitation.match.id);
    const reservation = reservationId ? await foundOrUndefined(api.reservation(reservationId, signal)) : undefined;
    return { invitation, reservation, profile };
  };
  const { value, problem, reload } = useLoaded(load, token, refreshMs);
  const [isRefused, setIsRefused] = useState(false);
  const onRefused = ({ code }: Problem) => {
    if (code === 'INVITATION_CLAIMED') setIsRefused(true);
    reload();
  };
  if (problem?.status === 404 || problem?.status === 400) return <WrongLink />;
  if (!value) return <Loading problem={problem} title={texts.invitation.title} onRetry={reload} />;
  const { invitation, reservation, profile } = value;
  return (
    <>
      {problem && <ProblemNotice problem={problem} />}
      <InvitationHeading invitation={invitation} />
      <section className="card card-narrow stage" aria-labelledby="invitation-from">
        <h2 id="invitation-from">{texts.invitation.from(invitation.quota_name)}</h2>
        <InvitationFacts invitation={invitation} />
        <InvitationStage
          token={token}
          invitation={invitation}
          state={invitationState(invitation, reservation, { now: serverNow(), isRefused })}
          profile={profile}
          onRefused={onRefused}
        />
      </section>
    </>
  );
}

function InvitationHeading({ invitation: { match } }: { invitation: InvitationLookup }) {
  const { texts } = useLanguage();
  return (
    <div className="match-heading invitation-heading">
      <PageTitle>{texts.invitation.title}</PageTitle>
      <div className="match-heading-row">
        <span className="match-crests">
          <TeamCrest name={match.home} />
          <TeamCrest name={match.away} />
        </span>
        <div>
          <p className="invitation-match">{matchTitle(match)}</p>
          <MatchFacts match={match} />
        </div>
      </div>
    </div>
  );
}

/** Shown for a link that leads to no invitation: damaged, incomplete, or replaced by a newer mail. */
export function WrongLink() {
  const { texts } = useLanguage();
  return (
    <section className="card card-narrow stage" data-testid="invitation-wrong">
      <PageTitle>{texts.invitation.wrong.title}</PageTitle>
      <p>{texts.invitation.wrong.text}</p>
      <Link to={paths.matches} className="button">
        {texts.invitation.allMatches}
      </Link>
    </section>
  );
}

async function foundOrUndefined<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (caught) {
    if (toProblem(caught).status === 404) return undefined;
    throw caught;
  }
}
