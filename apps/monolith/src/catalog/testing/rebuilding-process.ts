import { openDatabase } from '#platform/postgres/database';
import { MatchSearch } from '../match-search.ts';

// A process of its own, which a test kills: rebuilds the search index of the database in the first argument. Prints a line after
// each batch.

const dataSource = await openDatabase({ url: process.argv[2] ?? '', name: 'rebuild', poolSize: 1 });
const onProgress = (done: number): void => void process.stdout.write(`${done}\n`);
await new MatchSearch(dataSource).rebuild({ restart: false, onProgress, stop: new AbortController().signal });
await dataSource.destroy();
