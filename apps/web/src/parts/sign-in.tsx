import { type FormEvent, useId, useState } from 'react';
import { signInWith, signOut } from '../api/caller.ts';
import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';

/** Shows with AUTH_MODE=jwt that the fan is signed in, or offers the form to sign in. */
export function SignIn() {
  const { texts } = useLanguage();
  const { caller } = useAppServices();
  if (caller.signedIn) {
    const signOutAndReload = () => {
      signOut();
      location.reload();
    };
    return (
      <p className="fan-switch">
        {texts.fan.signedIn}{' '}
        <button type="button" className="link-button" onClick={signOutAndReload}>
          {texts.fan.signOut}
        </button>
      </p>
    );
  }
  return (
    <details className="sign-in">
      <summary>{texts.fan.signInTitle}</summary>
      <SignInForm />
    </details>
  );
}

/** The club manages the accounts of the fans, so a fan pastes the access token from the club's sign-in. */
export function SignInForm() {
  const { texts } = useLanguage();
  const [token, setToken] = useState('');
  const id = useId();
  const submitToken = (event: FormEvent) => {
    event.preventDefault();
    if (!token.trim()) return;
    signInWith(token.trim());
    location.reload();
  };
  return (
    <form className="sign-in-form" onSubmit={submitToken}>
      <label htmlFor={id}>{texts.fan.token}</label>
      <input id={id} type="password" autoComplete="off" value={token} onChange={(event) => setToken(event.target.value)} />
      <Button type="submit">{texts.fan.signIn}</Button>
    </form>
  );
}
