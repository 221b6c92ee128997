// rejected by typescript(no-floating-promises): a promise that is not awaited: its rejection is lost
const work = async (): Promise<number> => 1;
export function start(): void {
  work();
}
