import type { PolicyCheck } from '#contracts/quota-policies';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { storage } from '../storage.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { Loading, Notice, ProblemNotice } from './notice.tsx';
import { RoleNeeded, useMay } from './role-needed.tsx';
import { Select } from './select.tsx';
import { useLoaded } from './use-loaded.ts';

interface OpsPolicyCheckProps {
  matchId: string;
  /** The name of a quota. */
  nameOf: (quotaId: string) => string;
  /** Grows with each change that the operator makes: the policy is checked again. */
  version: number;
  /** Leaves out the rules that are kept. */
  isShort?: boolean;
}

const chosenKey = (matchId: string) => `tribina.policy.${matchId}`;

/** Checks the quotas of a match against a policy that the operator chooses. The browser remembers the choice for the match. */
export function OpsPolicyCheck({ matchId, nameOf, version, isShort = false }: OpsPolicyCheckProps) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const mayCheck = useMay('ops:sale');
  const policies = useLoaded((signal) => api.opsPolicies(signal), mayCheck ? 'policies' : undefined);
  const [remembered, setRemembered] = useState(() => storage.local.read(chosenKey(matchId)) ?? '');
  const chosen = policies.value?.items.find(({ name }) => name === remembered)?.name ?? '';
  const key = chosen === '' || !mayCheck ? undefined : `${matchId} ${chosen} ${version}`;
  const check = useLoaded(() => api.opsCheckPolicy(matchId, chosen), key);
  const { policy } = texts.opsQuotas;
  const choose = (name: string) => {
    if (name === '') storage.local.remove(chosenKey(matchId));
    else storage.local.write(chosenKey(matchId), name);
    setRemembered(name);
  };

  if (!mayCheck) return <RoleNeeded access="ops:sale" work="policy" />;
  if (!policies.value) return <Loading problem={policies.problem} onRetry={policies.reload} />;
  if (policies.value.items.length === 0) return <p className="fine-print">{policy.noPolicies}</p>;
  return (
    <div className="policy-check" data-testid="policy-check">
      <Select
        label={policy.choose}
        value={chosen}
        all={policy.none}
        options={policies.value.items.map(({ name, title }) => [name, title] as const)}
        onChange={choose}
        testId="policy"
      />
      {key !== undefined && !check.value && !check.problem && <Loading />}
      {check.problem && <ProblemNotice problem={check.problem} />}
      {check.value && <PolicyResult check={check.value} nameOf={nameOf} isShort={isShort} />}
      {key !== undefined && (
        <Button onClick={check.reload} testId="policy-again">
          {policy.again}
        </Button>
      )}
    </div>
  );
}

/** What the check has found. The texts of rules and breaches are data of the policy, in English. */
export function PolicyResult({
  check,
  nameOf,
  isShort,
}: { check: PolicyCheck } & Pick<OpsPolicyCheckProps, 'nameOf' | 'isShort'>) {
  const { texts } = useStaffLanguage();
  const { policy } = texts.opsQuotas;
  const broken = check.rules.filter(({ ok }) => !ok);
  const shown = isShort ? broken : check.rules;
  return (
    <>
      <Notice tone={check.ok ? 'good' : 'warning'} testId="policy-result">
        {check.ok ? policy.kept : policy.broken(broken.length, check.rules.length)}
      </Notice>
      {shown.length > 0 && (
        <ul className="policy-rules">
          {shown.map(({ id, article, text, ok, breaches }) => (
            <li key={id} data-testid="policy-rule" data-ok={ok}>
              <span className={ok ? 'policy-kept' : 'policy-broken'}>
                <Icon name={ok ? 'check' : 'attention'} />
                {ok ? policy.ok : policy.notOk}
              </span>
              <div>
                <p lang="en">
                  <strong>{article}</strong> {text}
                </p>
                <ul className="policy-breaches">
                  {breaches.map(({ quota_id: quotaId, message }) => (
                    <li key={`${quotaId} ${message}`}>
                      {quotaId === null ? policy.wholeMatch : nameOf(quotaId)}: <span lang="en">{message}</span>
                    </li>
                  ))}
                </ul>
              </div>
            </li>
          ))}
        </ul>
      )}
      <p className="fine-print">
        {policy.source} <span lang="en">{check.policy.source}</span>
      </p>
    </>
  );
}
