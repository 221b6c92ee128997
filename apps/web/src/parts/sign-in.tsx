import { type FormEvent, useId, useState } from 'react';
import { signInWith, signOut } from '../api/caller.ts';
import { useTribina } from '../api/tribina-context.ts';
import { useLanguage } from '../text/language.tsx';

/** With AUTH_MODE=jwt fans are the club's: the page takes the access token its sign-in hands out. */
export function SignIn() {
  const { texts } = useLanguage();
  const { caller } = useTribina();
  const [token, setToken] = useState('');
  const id = useId();
  if (caller.signedIn) {
    const leave = () => {
      signOut();
      location.reload();
    };
    return (
      <p className="fan-switch">
        {texts.fan.signedIn}{' '}
        <button type="button" className="link-button" onClick={leave}>
          {texts.fan.signOut}
        </button>
      </p>
    );
  }
  const enter = (event: FormEvent) => {
    event.preventDefault();
    if (!token.trim()) return;
    signInWith(token.trim());
    location.reload();
  };
  return (
    <details className="sign-in">
      <summary>{texts.fan.signInTitle}</summary>
      <form onSubmit={enter}>
        <label htmlFor={id}>{texts.fan.token}</label>
        <input id={id} type="password" autoComplete="off" value={token} onChange={(event) => setToken(event.target.value)} />
        <button type="submit" className="button">
          {texts.fan.signIn}
        </button>
      </form>
    </details>
  );
}
