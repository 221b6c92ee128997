import { opsRoles } from '../../../../libs/contracts/src/roles.ts';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { switchToRoles } from '../api/caller.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';

/** The choice of roles, only with AUTH_MODE=mock: with a sign-in the roles are in the access token. */
export function RoleChoice() {
  const { texts } = useStaffLanguage();
  const { caller } = useAppServices();
  const [chosen, setChosen] = useState(caller.roles);
  const { choice } = texts.roles;
  if (caller.mode !== 'mock') return null;
  const toggle = (role: string) => setChosen(chosen.includes(role) ? chosen.filter((each) => each !== role) : [...chosen, role]);
  const use = (event: FormEvent) => {
    event.preventDefault();
    switchToRoles(chosen);
    // Everything that the page has loaded was loaded with the former roles.
    location.reload();
  };
  return (
    <details className="role-choice">
      <summary data-testid="role-choice">
        {choice.title}: {caller.roles.join(', ') || texts.roles.none}
      </summary>
      <form onSubmit={use}>
        <fieldset>
          <legend>{choice.intro}</legend>
          {opsRoles.map((role) => (
            <label key={role}>
              <input type="checkbox" checked={chosen.includes(role)} onChange={() => toggle(role)} data-testid={`role-${role}`} />
              <code>{role}</code> {choice.roles[role]}
            </label>
          ))}
        </fieldset>
        <Button type="submit" testId="role-use">
          {choice.use}
        </Button>
      </form>
    </details>
  );
}
