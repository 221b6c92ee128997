// Loaded before a service (`node --import`): when the benchmark that forked the service ends for any reason, the service drains and
// exits. This file is JavaScript, because Node would load 20 MB of type stripper for TypeScript (see probed.mjs).
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
