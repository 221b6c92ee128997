import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Built into dist/web, which the monolith serves at `/`; in development the API is the one of a running system. */
export default defineConfig({
  base: '/',
  plugins: [react()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    // Nothing inlined: the page runs under `script-src 'self'; style-src 'self'` and `img-src 'self' blob:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': 'http://127.0.0.1:3000', '/config.json': 'http://127.0.0.1:3000' },
  },
});
