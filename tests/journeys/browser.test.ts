import { launchBrowser } from './browser.ts';

test('launchBrowser on a machine without a browser fails with an error that says how to get a browser', async () => {
  await expect(launchBrowser('/nowhere/chrome')).rejects.toThrow(/No browser.*\/nowhere\/chrome[^]*set CHROME_PATH/);
});
