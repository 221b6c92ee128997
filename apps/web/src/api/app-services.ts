import { createContext, useContext } from 'react';
import type { PurchaseStore } from '../purchase-store.ts';
import type { Caller } from './caller.ts';
import type { TribinaApi } from './tribina-api.ts';

/** The objects that every component may use. */
export interface AppServices {
  api: TribinaApi;
  caller: Caller;
  purchaseStore: PurchaseStore;
}

/** Gives the services to all components below it. */
export const AppServicesContext = createContext<AppServices | undefined>(undefined);

/** The services, for a component inside AppServicesContext. */
export function useAppServices(): AppServices {
  const services = useContext(AppServicesContext);
  if (!services) throw new Error('useAppServices outside of AppServicesContext');
  return services;
}
