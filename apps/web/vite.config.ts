import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * `npm run build` copies the build of the web app to dist/web, which the monolith serves at `/` (tools/local/web-app.ts). The
 * development server forwards API requests to a monolith that already runs on port 3000.
 */
export default defineConfig({
  base: '/',
  plugins: [react()],
  build: {
    outDir: '../../dist/web-build',
    emptyOutDir: true,
    // Inline nothing: the Content-Security-Policy is `script-src 'self'; style-src 'self'` and `img-src 'self' blob:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': 'http://127.0.0.1:3000', '/config.json': 'http://127.0.0.1:3000' },
  },
});
