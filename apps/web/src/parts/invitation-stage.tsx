import type { Profile } from '#contracts/fans';
import type { InvitationLookup } from '#contracts/invitations';
import type { Problem } from '../api/problem.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { ClaimForm } from './claim-form.tsx';
import type { InvitationState } from './invitation-state.ts';
import { Link } from './link.tsx';
import { Notice } from './notice.tsx';
import { SignInForm } from './sign-in.tsx';

interface InvitationStageProps {
  token: string;
  invitation: InvitationLookup;
  state: InvitationState;
  /** Undefined for a fan who is not signed in. */
  profile: Profile | undefined;
  onRefused: (problem: Problem) => void;
}

const tones = { early: 'info', mine: 'good' } as const satisfies Partial<Record<InvitationState, string>>;

/** What the fan can do next with an invitation, or why nothing can be done. */
export function InvitationStage(props: InvitationStageProps) {
  const { texts, format } = useLanguage();
  const { invitation, state, profile } = props;
  const matchId = invitation.match.id;
  const explained =
    state === 'early'
      ? texts.invitation.states.early(format.dateTime(invitation.opens_at ?? invitation.match.kickoff_at))
      : texts.invitation.states[state];
  const canClaim = state === 'open' || state === 'taken';
  return (
    <div className="invitation-stage" data-testid="invitation-state" data-state={state}>
      {explained && state !== 'open' && <Notice tone={tones[state as keyof typeof tones] ?? 'warning'}>{explained}</Notice>}
      {state === 'mine' && (
        <Link to={paths.checkout(matchId)} className="button button-primary button-wide" testId="invitation-checkout">
          {texts.invitation.goOn}
        </Link>
      )}
      {state === 'busy' && (
        <Link to={paths.match(matchId)} className="button">
          {texts.invitation.toMatch}
        </Link>
      )}
      {canClaim && profile && (
        <ClaimForm {...props} profile={profile} label={state === 'open' ? texts.invitation.claim : texts.invitation.goOn} />
      )}
      {canClaim && !profile && (
        <>
          <Notice tone="info">{texts.invitation.account.signIn}</Notice>
          <SignInForm />
        </>
      )}
      {(state === 'expired' || state === 'withdrawn') && (
        <Link to={paths.matches} className="button">
          {texts.invitation.allMatches}
        </Link>
      )}
    </div>
  );
}
