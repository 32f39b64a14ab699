/**
 * Removes data URLs from stylesheets: in GraphiQL's, fonts, which are four fifths of it, and pictures that nothing shows. The
 * Content-Security-Policy of the playground permits none, and the system has fonts.
 */
export const withoutDataUrls = {
  name: 'without-data-urls',
  enforce: 'pre',
  transform: {
    filter: { id: /\.css$/ },
    handler: (code) => ({
      code: code.replace(/@font-face\s*\{[^}]*url\(["']?data:[^}]*\}/g, '').replace(/url\(["']?data:[^)]*\)/g, 'none'),
      map: null,
    }),
  },
};
