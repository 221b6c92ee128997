import { useEffect, useState } from 'react';
import { paths } from './routes.ts';
import { storage } from './storage.ts';

const storageKey = 'tribina.invitation';
/** The fragment of the link in the mail: 32 random bytes as base64url. */
const fragment = /^#(inv_[\w-]{43})$/;

/**
 * The token of the link that led here. Anybody with the token can claim the invitation, so it is removed from the address bar and kept in
 * session storage, which survives a reload and ends with the tab. Undefined if the link is damaged, or if there is none.
 */
export function takeInvitationToken(): string | undefined {
  if (location.hash !== '') {
    const token = fragment.exec(location.hash)?.[1];
    if (token) storage.session.write(storageKey, token);
    else storage.session.remove(storageKey);
    history.replaceState(null, '', paths.invitation);
  }
  return storage.session.read(storageKey);
}

/** The token of the link. It changes when a second link is opened in the same tab, which does not load the page again. */
export function useInvitationToken(): string | undefined {
  const [token, setToken] = useState(takeInvitationToken);
  useEffect(() => {
    const onHashChange = () => setToken(takeInvitationToken());
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, []);
  return token;
}
