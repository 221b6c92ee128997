// rejected by oxc(no-barrel-file): a file that only re-exports other files
export * from './new-id.ts';
export * from './old-id.ts';
