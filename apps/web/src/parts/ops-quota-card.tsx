import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { useId, useState } from 'react';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { OpsQuotaChange } from './ops-quota-change.tsx';
import { OpsQuotaFacts } from './ops-quota-facts.tsx';
import { OpsQuotaMove } from './ops-quota-move.tsx';
import { QuotaBar } from './quota-bar.tsx';
import { useMay } from './role-needed.tsx';
import type { QuotaNode } from './quota-tree.ts';

interface OpsQuotaCardProps {
  node: QuotaNode;
  match: Match;
  sectors: readonly Sector[];
  quotas: readonly Quota[];
  /** Called after a change, with what happened. */
  onChange: (happened: string) => void;
}

/** A quota of the tree with its bar, and below it the quotas that are parts of it. An opened card has its settings and forms. */
export function OpsQuotaCard({ node, ...rest }: OpsQuotaCardProps) {
  const { texts } = useStaffLanguage();
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  const { quota, parts } = node;
  const { tree, kinds, status } = texts.opsQuotas;
  return (
    <li data-testid="quota-node">
      <article className="card quota" data-testid="quota" data-quota-id={quota.id} data-status={quota.status}>
        <h3>
          <button
            type="button"
            className="quota-name"
            aria-expanded={isOpen}
            aria-controls={`${id}-details`}
            onClick={() => setIsOpen(!isOpen)}
            data-testid="quota-open"
          >
            <span>
              {quota.name}
              <small>
                {kinds[quota.kind]} · <ReturnOf quota={quota} />
              </small>
            </span>
            <span className="quota-state">
              <span className={`badge badge-quota-${quota.status}`}>{status[quota.status]}</span>
              <Icon name="more" />
            </span>
          </button>
        </h3>
        <div className="quota-bars">
          <QuotaBar counts={quota.places} />
          {parts.length > 0 && <QuotaBar counts={quota.subtree} label={tree.subtree} />}
        </div>
        <div id={`${id}-details`} className="quota-details" hidden={!isOpen}>
          {isOpen && <QuotaDetails quota={quota} {...rest} />}
        </div>
      </article>
      {parts.length > 0 && (
        <ul className="quota-parts" aria-label={tree.parts(quota.name)}>
          {parts.map((part) => (
            <OpsQuotaCard key={part.quota.id} node={part} {...rest} />
          ))}
        </ul>
      )}
    </li>
  );
}

function ReturnOf({ quota }: { quota: Quota }) {
  const { texts, format } = useStaffLanguage();
  const { tree } = texts.opsQuotas;
  if (quota.returned_at) return tree.returned(format.dateTime(quota.returned_at));
  return quota.return_at && quota.on_return !== 'keep' ? tree.returns(format.dateTime(quota.return_at)) : tree.keeps;
}

/** The settings of a quota, and the form that the operator has chosen. */
function QuotaDetails({ quota, match, sectors, quotas, onChange }: Omit<OpsQuotaCardProps, 'node'> & { quota: Quota }) {
  const { texts } = useStaffLanguage();
  const mayChange = useMay('ops:sale');
  const [form, setForm] = useState<'change' | 'move'>();
  // After a form is closed the keyboard continues at the button that opened it.
  const [closed, setClosed] = useState<'change' | 'move'>();
  const close = () => {
    setClosed(form);
    setForm(undefined);
  };
  const onDone = (happened: string) => {
    setForm(undefined);
    setClosed(undefined);
    onChange(happened);
  };
  return (
    <>
      <OpsQuotaFacts quota={quota} match={match} sectors={sectors} />
      {form === 'change' && <OpsQuotaChange match={match} quota={quota} onDone={onDone} onCancel={close} />}
      {form === 'move' && <OpsQuotaMove quota={quota} quotas={quotas} sectors={sectors} onDone={onDone} onCancel={close} />}
      {mayChange && form === undefined && (
        <div className="button-row">
          <Button autoFocus={closed === 'change'} onClick={() => setForm('change')} testId="quota-change">
            {texts.opsQuotas.change.label}
          </Button>
          <Button autoFocus={closed === 'move'} onClick={() => setForm('move')} testId="quota-move">
            {texts.opsQuotas.move.label}
          </Button>
        </div>
      )}
    </>
  );
}
