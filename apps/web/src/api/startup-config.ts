import type { StartupConfig } from './caller.ts';
import { Client } from './client.ts';

const anonymousClient = new Client({ mode: 'jwt', fanId: 'nobody', signedIn: false, roles: [], headers: () => ({}) });

/** Reads the configuration that the page needs before its first API call: the queue service's URL and how fans sign in. */
export const readStartupConfig = (signal?: AbortSignal): Promise<StartupConfig> =>
  anonymousClient.get<StartupConfig>('/config.json', { signal });
