import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { startOwnServers } from './instruments/own-servers.ts';
import { openCore } from './queue/joins.ts';
import { Crowd } from './queue/crowd.ts';
import { line, settings } from './queue/sockets.ts';
writeFileSync('/tmp/p2.mjs',`process.on('message',(m)=>{ if(m.q){ for(let i=0;i<3;i++) globalThis.gc(); const u=process.memoryUsage(); process.send({a:u}); } });`);
const servers = await startOwnServers();
const core = await openCore(servers.redisUrl);
const N=8000;
for (const flags of [[],['--max-semi-space-size=2'],['--max-semi-space-size=64'],['--optimize-for-size']]) {
const port=40000+Math.floor(Math.random()*5000);
const child=fork('/tmp/wt-queue/dist/apps/queue-service/src/main.js',[],{env:{PATH:process.env.PATH,...settings(servers.redisUrl),QUEUE_PORT:String(port)},execArgv:['--expose-gc',...flags,'--import','/tmp/p2.mjs'],stdio:['ignore',2,2,'ipc']});
await sleep(4000);
const ask=()=>new Promise<NodeJS.MemoryUsage>(r=>{child.once('message',(m:any)=>r(m.a)); child.send({q:1});});
const a=await ask();
const { tokens } = await line(core, N);
const crowd = await Crowd.connect(tokens.map((t) => ({ port, path: `/ws/${t}` })));
await crowd.heardAll(1); await sleep(1500);
const b=await ask(); await sleep(4000); const c=await ask();
const f=(x:NodeJS.MemoryUsage,k:keyof NodeJS.MemoryUsage)=>((x[k]-a[k])/N).toFixed(0);
console.log(flags.join(' ')||'default','rss',f(b,'rss'),'→',f(c,'rss'),'heapTotal',f(c,'heapTotal'),'heapUsed',f(c,'heapUsed'),'external',f(c,'external'),'connect',crowd.seconds.toFixed(1));
await crowd.close(); child.kill(); await sleep(1500);
}
await core.close(); await servers.stop(); process.exit();
