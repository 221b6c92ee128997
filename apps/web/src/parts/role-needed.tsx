import { hasAccess, type OpsAccess, rolesWith } from '../../../../libs/contracts/src/roles.ts';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage, type StaffTexts } from '../text/staff-language.ts';

/** True if the operator may make calls with this access. The server decides again at each call. */
export function useMay(access: OpsAccess): boolean {
  return hasAccess(useAppServices().caller.roles, access);
}

interface RoleNeededProps {
  access: OpsAccess;
  work: keyof StaffTexts['roles']['work'];
}

/** Says which role is missing. Shows nothing to an operator who has it. */
export function RoleNeeded({ access, work }: RoleNeededProps) {
  const { texts } = useStaffLanguage();
  const { caller } = useAppServices();
  if (useMay(access)) return null;
  const { needed, none, work: works } = texts.roles;
  const own = caller.roles.join(', ') || none;
  return (
    <p className="fine-print role-needed" data-testid={`role-needed-${work}`}>
      {needed(works[work], (rolesWith(access) ?? []).join(', '), own)}
    </p>
  );
}
