// rejected by oxc(no-barrel-file): a barrel
export * from './new-id.ts';
export * from './old-id.ts';
