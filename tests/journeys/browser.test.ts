import { launchBrowser } from './browser.ts';

test('without a browser a journey fails and says what to do', async () => {
  await expect(launchBrowser('/nowhere/chrome')).rejects.toThrow(/No browser.*\/nowhere\/chrome[^]*set CHROME_PATH/);
});
