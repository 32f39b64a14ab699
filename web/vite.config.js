import { defineConfig } from 'vite';
import { withoutDataUrls } from './playground/vite-plugin.js';

/** The pages: `page.html` is the frame of those without a script. */
const entries = ['page.html', 'console.html', 'playground.html'];

export default defineConfig({
  root: import.meta.dirname,
  // Relative, because a reverse proxy may serve the gateway below a path prefix that the gateway does not know.
  base: './',
  build: {
    outDir: '../dist-web.next',
    emptyOutDir: true,
    manifest: 'manifest.json',
    target: 'es2023',
    modulePreload: { polyfill: false },
    // A data: URL would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    chunkSizeWarningLimit: Number.POSITIVE_INFINITY,
    rolldownOptions: { input: entries.map((name) => `${import.meta.dirname}/${name}`) },
  },
  // `npm run dev` in this folder, next to a gateway: `PORT=4000 npm start`.
  server: { proxy: { '/graphql': 'http://127.0.0.1:4000' } },
  plugins: [
    withoutDataUrls,
    {
      name: 'placeholders',
      apply: 'serve',
      transformIndexHtml: (text) => text.replaceAll('{{root}}', '/').replaceAll('{{nonce}}', ''),
      configureServer({ middlewares }) {
        middlewares.use((request, _, next) => {
          if (/^\/console(?:\/[a-z-]+)?(?:\?|$)/.test(request.url) && request.headers.accept?.includes('text/html')) {
            request.url = '/console.html';
          }
          next();
        });
      },
    },
  ],
});
