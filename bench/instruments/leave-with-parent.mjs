// Loaded before a service (`node --import`): when the benchmark that forked the service ends for any reason, the service drains and
// exits. JavaScript for the reason given in probed.mjs.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
