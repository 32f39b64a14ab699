/** The stylesheet of every page. Light and dark follow the browser's setting; usable from a width of 320 pixels. */
export const stylesheet = `:root {
  color-scheme: light dark;
  --text: light-dark(#1f2328, #e6edf3);
  --muted: light-dark(#59636e, #9aa4af);
  --background: light-dark(#ffffff, #0d1117);
  --panel: light-dark(#f5f7f9, #161b22);
  --border: light-dark(#d5dbe1, #30363d);
  --link: light-dark(#0b57b5, #7ab7ff);
  --wrong: light-dark(#c01c28, #ff7b72);
  --right: light-dark(#1a7f37, #56d364);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  color: var(--text);
  background: var(--background);
  font: 1rem/1.6 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
header, main { max-width: 54rem; margin: 0 auto; padding: 0 1rem; }
header {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.25rem 1.25rem;
  padding-block: 0.75rem;
  border-bottom: 1px solid var(--border);
}
nav { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
header a { padding-block: 0.25rem; color: var(--muted); text-decoration: none; }
header a:hover { color: var(--link); }
header .home { display: flex; align-items: center; gap: 0.5rem; margin-right: auto; color: var(--text); font-weight: 600; }
main { padding-block: 1.5rem 4rem; }
h1 { margin: 0 0 0.75rem; font-size: 1.75rem; line-height: 1.25; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.2rem; }
h3 { margin: 1.5rem 0 0.25rem; font-size: 1.05rem; }
h4 { margin: 1.25rem 0 0; font-size: 1rem; }
p { margin: 0.5rem 0; }
ul { margin: 0.75rem 0; padding-left: 1.25rem; }
summary { padding-block: 0.25rem; color: var(--muted); cursor: pointer; }
a { color: var(--link); }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9em; }
pre {
  margin: 0.5rem 0;
  padding: 0.75rem 1rem;
  overflow-x: auto;
  overflow-wrap: normal;
  line-height: 1.45;
  background: var(--panel);
  border: 1px solid var(--border);
  border-left: 4px solid var(--border);
  border-radius: 0.4rem;
}
pre code { font-size: inherit; }
pre.command { user-select: all; border-left-color: var(--link); }
pre.wrong { border-left-color: var(--wrong); }
pre.right { border-left-color: var(--right); }
dl { margin: 1rem 0; }
dt { margin-top: 1.1rem; }
dt a { font-weight: 600; }
dd { margin: 0.1rem 0 0; }
.facts dt { color: var(--muted); font-size: 0.9em; }
.badge {
  display: inline-block;
  padding: 0 0.5em;
  color: var(--muted);
  background: var(--panel);
  border: 1px solid var(--border);
  border-radius: 1em;
  font-size: 0.8em;
  white-space: nowrap;
}
.badge.error { color: var(--wrong); }
`;
