// rejected by eslint(no-restricted-imports): an app imports another app
import { LiveFans } from '../../queue-service/src/waiting-room/application/live-fans.ts';
export const fans = LiveFans;
