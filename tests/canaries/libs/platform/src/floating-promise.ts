// rejected by typescript(no-floating-promises): a failure nobody would hear of
const work = async (): Promise<number> => 1;
export function start(): void {
  work();
}
