import fs from 'node:fs';
import { projectFile } from '#platform/project-root';
import { RedisScript } from '#platform/redis/script';

const FOLDER = ['apps', 'queue-service', 'src', 'waiting-room', 'outbound', 'lua'];
/** The files of shared Lua functions in lua/parts. The order matters: a part uses functions of the parts before it. */
const PARTS = [
  'match-keys',
  'match-state',
  'rfc3339',
  'announce',
  'queue-state',
  'presence',
  'endings',
  'closing',
  'settings',
  'entries',
  'devices',
];

function read(...segments: string[]): string {
  return fs.readFileSync(projectFile(...FOLDER, ...segments), 'utf8');
}

/** Lua in Redis has no include, so all parts are put in front of each script. */
function script(name: string): RedisScript {
  return new RedisScript([...PARTS.map((part) => read('parts', `${part}.lua`)), read(`${name}.lua`)].join('\n'));
}

/** Reads all scripts of the waiting room from the folder lua/. */
export function loadLineScripts() {
  return {
    joinLine: script('join-line'),
    pollEntry: script('poll-entry'),
    leaveLine: script('leave-line'),
    admitFront: script('admit-front'),
    endWindows: script('end-windows'),
    completeWindow: script('complete-window'),
    controlQueue: script('control-queue'),
    restoreQueue: script('restore-queue'),
    reportSoldOut: script('report-sold-out'),
    drainClosed: script('drain-closed'),
    readEntries: script('read-entries'),
    readPositions: script('read-positions'),
    readQueue: script('read-queue'),
    readMoves: script('read-moves'),
    keepEntry: script('keep-entry'),
    renewPresence: script('renew-presence'),
    removeConnections: script('remove-connections'),
    beatPod: script('beat-pod'),
    dropAbsent: script('drop-absent'),
    announcePositions: script('announce-positions'),
  };
}

/** The scripts of the waiting room, by name. */
export type LineScripts = ReturnType<typeof loadLineScripts>;
