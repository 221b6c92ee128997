import { createContext, useContext } from 'react';
import type { Memory } from '../purchase-memory.ts';
import type { Caller } from './caller.ts';
import type { Tribina } from './tribina.ts';

export interface Session {
  tribina: Tribina;
  caller: Caller;
  memory: Memory;
}

export const TribinaContext = createContext<Session | undefined>(undefined);

export function useTribina(): Session {
  const session = useContext(TribinaContext);
  if (!session) throw new Error('useTribina outside of TribinaContext');
  return session;
}
