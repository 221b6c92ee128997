import { setFlagsFromString } from 'node:v8';

/*
 * Imported for what it does, before anything is made. Everything a request makes is gone when it is answered. V8 watches from
 * which places in the code objects come that survive, and makes those of the first moments' survivors among the old ones from
 * then on, for good: in the first rush nearly all survive, since all are on their way. From then on each is dead among the old after
 * milliseconds, and keeps alive what it points to, contexts, answers, promises: a tenth of all that was allocated, 25 MB a second
 * of holds, was carried through two collections and left for a full one. Without it, nothing is.
 */
setFlagsFromString('--no-allocation-site-pretenuring');
