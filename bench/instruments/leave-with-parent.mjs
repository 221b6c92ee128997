// Loaded before a service (`node --import`): when the benchmark that forked it is gone, however it went, the service drains.
// JavaScript, as probed.mjs says why.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
